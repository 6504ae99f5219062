/** Web standard: `(request: Request) => Promise<Response>`, for Deno-, Bun- and worker-shaped servers. */
import type { Inbox } from '../inbox.js'
import { fetchIntake } from '../intake/fetch.js'

export interface FetchHandlerOptions {
  /** The source of everything that comes to this handler; without it, the last part of the path after `/webhooks/`. */
  readonly source?: string
}

export function fetchHandler(
  inbox: Inbox,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  return (request) => fetchIntake(inbox, request, options.source)
}
