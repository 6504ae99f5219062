/** Next.js: in `app/webhooks/[source]/route.ts`, `export const { GET, POST } = nextRoute(inbox)`. */
import { wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { fetchIntake } from '../intake/fetch.js'
import type { FetchHandlerOptions } from './fetch.js'

interface NextContextLike {
  readonly params?: Promise<Readonly<Record<string, string | string[] | undefined>>>
}

export type NextRouteHandler = (request: Request, context?: NextContextLike) => Promise<Response>

export function nextRoute(
  inbox: Inbox,
  options: FetchHandlerOptions = {},
): { GET: NextRouteHandler; POST: NextRouteHandler } {
  const handle: NextRouteHandler = async (request, context) => {
    const named = options.source ?? (await context?.params)?.source
    return fetchIntake(wholeInbox(inbox), request, {
      ...options,
      source: typeof named === 'string' ? named : undefined,
    })
  }
  return { GET: handle, POST: handle }
}
