/** The log on its own store: for the machine that has it. */
import { once } from 'node:events'
import { userInfo } from 'node:os'
import { orderMany, orderOne } from '../../processing/orders.js'
import { attemptView, eventView } from '../../server/admin/views.js'
import type { Store } from '../../store.js'
import type { EventLog, Followed, FollowOptions } from './event-log.js'

const PAGE = 200
/** How long a reader waits at most when nothing wakes it. */
const POLL_MS = 1_000

/** A process that can open the store can read everything in it, so errors and reasons are shown in full. */
export function storeLog(store: Store): EventLog {
  const actor = actorName()
  return {
    name: store.name,
    async list(filter, page) {
      const { events, next, cut = false } = await store.list(filter, page)
      return { events: events.map((event) => eventView(event, true)), next, cut }
    },
    async get(key) {
      const event = await store.get(key)
      return event && eventView(event, true)
    },
    attempts: async (key) => (await store.attempts(key)).map((attempt) => attemptView(attempt, true)),
    async payload(key, reason) {
      const payload = await store.payload(key)
      if (payload !== null) await store.audit([{ actor, verb: 'payload', ...key, reason }])
      return payload
    },
    // A store knows names only; those of hookonce dev are the providers' own.
    providers: async () => ({}),
    follow: (options) => follow(store, options),
    order: (verb, key, options) => orderOne(store, verb, key, { actor, ...options }),
    orderMany: (verb, filter, options) => orderMany(store, verb, filter, { actor, ...options }),
    [Symbol.asyncDispose]: () => store.close(),
  }
}

async function* follow(
  store: Store,
  { after, source, signal }: FollowOptions,
): AsyncGenerator<Followed, void> {
  let position = after ?? (await store.list({}, { limit: 1 })).events[0]?.seq ?? 0
  let wake = () => {}
  const unsubscribe = await store.subscribe(() => wake())
  try {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      const page = await store.tail({
        after: position,
        limit: PAGE,
        ...(source === undefined ? {} : { source }),
      })
      if (page.events.length > 0 || page.gap || page.position !== position)
        yield {
          events: page.events.map((event) => eventView(event, true)),
          position: page.position,
          gap: page.gap,
        }
      position = page.position
      if (page.events.length === 0) await Promise.race([woken, pause(POLL_MS, signal)])
    }
  } finally {
    await unsubscribe()
  }
}

/** Ends early, without an error, when the signal says stop. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  const done = new AbortController()
  const stopped = once(signal, 'abort', { signal: done.signal }).catch(() => {})
  await Promise.race([over, stopped])
  clearTimeout(timer)
  done.abort()
}

/** Who does it, for the audit. */
export function actorName(): string {
  try {
    return `cli:${userInfo().username}`
  } catch {
    return 'cli' // a user id without a name, as containers have
  }
}
