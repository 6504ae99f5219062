/** Hono: `app.all('/webhooks/:source', honoHandler(inbox))`. */
import { inboxOf } from '../inbox/internals.js'
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
  const whole = inboxOf(inbox, options)
  return (context) =>
    fetchIntake(whole, context.req.raw, {
      ...options,
      source: options.source ?? context.req.param('source'),
    })
}
