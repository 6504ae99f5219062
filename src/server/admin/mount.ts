/**
 * The admin API where `node:http` is spoken. Express: `app.use(nodeAdmin(handler, '/admin'))`. Fastify:
 * `app.register(fastifyAdmin(handler, '/admin'))`. Hono and Next take `handler.fetch` as it is.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import type { Admin } from './admin.js'

export type NodeAdmin = (
  request: IncomingMessage & { originalUrl?: string; body?: unknown },
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/** Express and Connect: what is not below `basePath` is passed on. */
export function nodeAdmin(admin: Admin, basePath = ''): NodeAdmin {
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env as HttpBindings
      return admin.fetch(request, { address: incoming.socket.remoteAddress ?? null })
    },
    // The globals belong to the application this is mounted in.
    { overrideGlobalObjects: false },
  )
  return async (request, response, next) => {
    const url = request.originalUrl ?? request.url ?? '/'
    const path = url.split('?', 1)[0]!
    if (next && path !== basePath && !path.startsWith(`${basePath}/`)) return next()
    request.url = url
    await listener(request, response)
  }
}
