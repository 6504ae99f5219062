/** Hono: `app.all('/webhooks/:source', honoHandler(inbox))`. */
import { wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { fetchIntake } from '../intake/fetch.js'
import type { FetchHandlerOptions } from './fetch.js'

interface HonoContextLike {
  readonly req: { readonly raw: Request; param(name: string): string | undefined }
}

export function honoHandler(
  inbox: Inbox,
  options: FetchHandlerOptions = {},
): (context: HonoContextLike) => Promise<Response> {
  return (context) =>
    fetchIntake(wholeInbox(inbox), context.req.raw, {
      ...options,
      source: options.source ?? context.req.param('source'),
    })
}
