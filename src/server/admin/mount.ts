/**
 * The admin API where `node:http` is spoken. Express: `app.use(nodeAdmin(handler, '/admin'))`. Fastify:
 * `app.register(fastifyAdmin(handler, '/admin'))`. Hono and Next take `handler.fetch` as it is.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyLike } from '../../adapters/fastify.js'
import { bridge } from '../bridge.js'
import type { Admin } from './admin.js'

export type NodeAdmin = (
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** For `node:http`, Express and Connect: with a `next`, what is not below `basePath` is passed on. */
export function nodeAdmin(admin: Admin, basePath = ''): NodeAdmin {
  const answer = bridge(
    (request, incoming) => admin.fetch(request, { address: incoming.socket.remoteAddress ?? null }),
    { bodyBytes: admin.bodyBytes, bodies: admin.bodies },
  )
  return (request, response, next) => {
    const path = (request.originalUrl ?? request.url ?? '/').split('?', 1)[0]!
    if (next && path !== basePath && !path.startsWith(`${basePath}/`)) return next()
    answer(request, response).catch((error) => (next ? next(error) : response.destroy()))
  }
}

/** A plugin: inside it, and only there, bodies are left to the admin API. */
export function fastifyAdmin(admin: Admin, basePath = ''): (app: FastifyLike) => Promise<void> {
  const answer = nodeAdmin(admin, basePath)
  return async (app) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const url of new Set([basePath || '/', `${basePath}/*`])) {
      app.route({
        method: ['GET', 'POST', 'DELETE'],
        url,
        handler(request, reply) {
          reply.hijack()
          answer(request.raw, reply.raw)
        },
      })
    }
  }
}
