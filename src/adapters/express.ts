/**
 * Express: `app.use(expressHandler(inbox))` serves `/webhooks/<source>`, below a mount point as well;
 * `app.post('/hooks/:source', expressHandler(inbox))` serves a path of yours;
 * `app.post('/stripe', expressHandler(inbox, { source: 'stripe' }))` serves one. Mount it above `express.json()`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Inbox } from '../inbox.js'
import { type NodeHandlerOptions, nodeIntake, sourceOf } from './node.js'

export type ExpressHandler = (
  request: IncomingMessage & { originalUrl?: string; params?: Record<string, string | string[]> },
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

export function expressHandler(inbox: Inbox, options: NodeHandlerOptions = {}): ExpressHandler {
  const take = nodeIntake(inbox, options)
  return (request, response, next) => {
    const named = options.source ?? request.params?.source
    const source = typeof named === 'string' ? named : sourceOf(request, options.path)
    if (source === null) return next()
    take(request, response, source).catch(next)
  }
}
