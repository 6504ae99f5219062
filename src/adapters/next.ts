/** Next.js: in `app/webhooks/[source]/route.ts`, `export const { GET, POST } = nextRoute(inbox)`. */

import type { Sources } from '../inbox/event-types.js'
import { inboxOf, wholeInbox } from '../inbox/internals.js'
import type { Inbox } from '../inbox.js'
import { fetchIntake } from '../intake/fetch.js'
import type { FetchHandlerOptions } from './fetch.js'

interface NextContextLike {
  readonly params?: Promise<Readonly<Record<string, string | string[] | undefined>>>
}

export type NextRouteHandler = (request: Request, context?: NextContextLike) => Promise<Response>

/** `inbox` is made by `nextInbox`, or is an inbox. */
export function nextRoute(
  inbox: Inbox | (() => Inbox),
  options: FetchHandlerOptions = {},
): { GET: NextRouteHandler; POST: NextRouteHandler } {
  const present = typeof inbox === 'function' ? inbox : () => inbox
  // `next build` loads the route, and must not need what only a running server has.
  if (typeof inbox !== 'function') inboxOf(inbox, options)
  const handle: NextRouteHandler = async (request, context) => {
    const named = options.source ?? (await context?.params)?.source
    return fetchIntake(inboxOf(present(), options), request, {
      ...options,
      source: typeof named === 'string' ? named : undefined,
    })
  }
  return { GET: handle, POST: handle }
}

/** Next.js loads a module once for each bundle (routes, instrumentation), so the inbox cannot be kept in a module. */
interface Shared {
  make: () => Inbox
  /** Undefined before the first use. */
  inbox?: Inbox
  madeBy?: () => Inbox
}

const KEY = Symbol.for('hookonce.next')
const shared = globalThis as { [KEY]?: Shared }

/**
 * The one inbox of a Next.js server: `export const inbox = nextInbox(() => ...)`. The returned function gives it to routes,
 * pages and `instrumentation`. `make` runs at the first use, so `next build` needs no secrets. In `next dev` an edited
 * module makes a new inbox, which takes over from the one before.
 */
export function nextInbox<Tx, S extends Sources>(make: () => Inbox<Tx, S>): () => Inbox<Tx, S> {
  shared[KEY] ??= { make: make as () => Inbox }
  const state = shared[KEY]
  if (process.env.NODE_ENV === 'development') state.make = make as () => Inbox
  return () => presentInbox(state) as Inbox<Tx, S>
}

function presentInbox(state: Shared): Inbox {
  const { inbox, madeBy, make } = state
  if (inbox !== undefined && madeBy === make) return inbox
  const next = make()
  Object.assign(state, { inbox: next, madeBy: make })
  if (inbox !== undefined) void handOver(inbox, next)
  return next
}

async function handOver(from: Inbox, to: Inbox): Promise<void> {
  const { log } = wholeInbox(to)
  try {
    await Promise.all([wholeInbox(from).isStarted() && to.start(), from.stop()])
  } catch (error) {
    log.error({ error: (error as Error).message }, 'the edited inbox cannot take over from the one before')
  }
}
