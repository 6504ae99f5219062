/** Web-standard servers: `(request: Request) => Promise<Response>`. */
import { inboxOf } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { fetchIntake } from '../intake/fetch.js'

export interface FetchHandlerOptions {
  /** The source of everything that comes to this handler; without it, the path names the source. */
  readonly source?: string
  /** Where the source is in the path. Default `/webhooks/:source`, from the start of the path. */
  readonly path?: string
}

export function fetchHandler(
  inbox: Inbox,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  const whole = inboxOf(inbox, options)
  return (request) => fetchIntake(whole, request, options)
}
