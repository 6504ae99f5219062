/**
 * Fastify: `app.register(fastifyPlugin(inbox))` serves `/webhooks/:source`. Bodies stay bytes inside the plugin only;
 * routes of the application keep their parsers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inbox } from '../inbox.js'
import { DEFAULT_PATH } from '../intake/source-path.js'
import { type NodeHandlerOptions, nodeIntake } from './node.js'

/** The part of Fastify that is used here: Fastify is an optional peer. */
export interface FastifyLike {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parse: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  route(route: {
    method: string[]
    url: string
    handler: (
      request: { raw: IncomingMessage; params: unknown },
      reply: { raw: ServerResponse; hijack(): void },
    ) => Promise<void> | void
  }): void
}

export interface FastifyPluginOptions extends NodeHandlerOptions {
  /** Default `/webhooks/:source`, or `/webhooks/<source>` when `source` is given. */
  readonly path?: string
}

export function fastifyPlugin(
  inbox: Inbox,
  options: FastifyPluginOptions = {},
): (app: FastifyLike) => Promise<void> {
  const take = nodeIntake(inbox, options)
  return async (app) => {
    app.removeAllContentTypeParsers()
    // Left unread: the handler reads the stream within the limits of the inbox.
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: options.path ?? DEFAULT_PATH.replace(':source', options.source ?? ':source'),
      handler: async (request, reply) => {
        reply.hijack()
        const { source = null } = request.params as { source?: string }
        await take(request.raw, reply.raw, options.source ?? source)
      },
    })
  }
}
