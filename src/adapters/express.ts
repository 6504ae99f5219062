/**
 * Express: `app.use(expressHandler(inbox))` serves `/webhooks/<source>`;
 * `app.post('/stripe', expressHandler(inbox, { source: 'stripe' }))` serves one. Mount it above `express.json()`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inbox } from '../inbox.js'
import { sourceInPath } from '../intake/fetch.js'
import { type NodeHandlerOptions, nodeHandler } from './node.js'

export type ExpressHandler = (
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export function expressHandler(inbox: Inbox, options: NodeHandlerOptions = {}): ExpressHandler {
  const handle = nodeHandler(inbox, options)
  return (request, response, next) => {
    const path = (request.originalUrl ?? request.url ?? '/').split('?', 1)[0]!
    if (options.source === undefined && sourceInPath(path) === null) return next()
    handle(request, response).catch(next)
  }
}
