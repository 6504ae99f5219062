/**
 * Operators' verbs on one event or on a filter: oldest first, page by page, at a rate, with progress, and to be stopped at
 * any time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { HookonceError } from '../errors.js'
import type { EventFilter, EventKey, EventPage, EventRecord, Order, OrderResult } from '../model.js'
import type { Store } from '../store.js'

/** Who orders, and why: goes into the audit. */
export interface OrderOptions {
  /** Default `inbox`. */
  readonly actor?: string
  readonly reason?: string
  /** Needed to replay what has succeeded. */
  readonly force?: boolean
  /** Say or count what would happen and change nothing. */
  readonly dryRun?: boolean
}

export interface BulkOptions extends OrderOptions {
  /** Events a second at most. */
  readonly ratePerSecond?: number
  readonly onProgress?: (progress: BulkResult) => void
  /** Ends it between two pages, also during a pause; what is done stays done. */
  readonly signal?: AbortSignal
}

export interface BulkResult {
  /** Events the filter found. */
  readonly matched: number
  readonly done: number
  /** By code: why the others were left alone. */
  readonly refused: Readonly<Record<string, number>>
}

const PAGE = 200

type Ordered = Pick<Store, 'list' | 'operate'>

export async function orderOne(
  store: Ordered,
  verb: Order['verb'],
  key: EventKey,
  options: OrderOptions,
): Promise<OrderResult> {
  const { actor = 'inbox', reason = '', force = false, dryRun = false } = options
  const [result] = await store.operate({ verb, events: [key], actor, reason, force, dryRun })
  return result!
}

export async function orderMany(
  store: Ordered,
  verb: Order['verb'],
  filter: EventFilter,
  options: BulkOptions,
): Promise<BulkResult> {
  const {
    actor = 'inbox',
    reason = '',
    force = false,
    dryRun = false,
    ratePerSecond,
    onProgress,
    signal,
  } = options
  if (ratePerSecond !== undefined && !(ratePerSecond > 0)) {
    throw new HookonceError('INVALID_INPUT', {
      what: 'ratePerSecond',
      problem: `must be above 0, not ${ratePerSecond}`,
    })
  }
  const size = ratePerSecond === undefined ? PAGE : Math.max(1, Math.min(PAGE, Math.ceil(ratePerSecond / 5)))
  const refused: Record<string, number> = {}
  let matched = 0
  let done = 0
  let freeAt = 0
  for await (const events of oldestFirst(store, filter, signal)) {
    for (let at = 0; at < events.length; at += size) {
      await pause(freeAt - performance.now(), signal)
      if (signal?.aborted) break
      const chunk = events.slice(at, at + size)
      if (ratePerSecond !== undefined) freeAt = performance.now() + (chunk.length / ratePerSecond) * 1_000
      const results = await store.operate({ verb, events: chunk, actor, reason, force, dryRun })
      for (const result of results) {
        if (result.done) done++
        else refused[result.code] = (refused[result.code] ?? 0) + 1
      }
      matched += chunk.length
      onProgress?.({ matched, done, refused })
    }
  }
  return { matched, done, refused }
}

/** A page of the list as it was found: where it began, and the seqs of its first and last event. */
interface Stretch {
  readonly cursor: string | null
  readonly newest: number
  readonly oldest: number
}

/**
 * What the filter finds, oldest first. A store lists newest first, so the list is walked twice: down, where only the ends
 * of each page are kept, and up again page by page. Between its ends an event is met once, whatever moved meanwhile;
 * events that are recorded after the start are left out.
 */
async function* oldestFirst(
  store: Ordered,
  filter: EventFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventRecord[], void> {
  const stretches: Stretch[] = []
  let cursor: string | null = null
  do {
    if (signal?.aborted) return
    const { events, next }: EventPage = await store.list(filter, { limit: PAGE, cursor })
    if (events.length > 0) stretches.push({ cursor, newest: events[0]!.seq, oldest: events.at(-1)!.seq })
    cursor = next
  } while (cursor !== null)
  for (const stretch of stretches.reverse()) {
    if (signal?.aborted) return
    yield (await listAgain(store, filter, stretch)).reverse()
  }
}

/** More than a page when events of the stretch have begun to match. */
async function listAgain(store: Ordered, filter: EventFilter, stretch: Stretch): Promise<EventRecord[]> {
  const found: EventRecord[] = []
  let { cursor } = stretch
  for (;;) {
    const { events, next } = await store.list(filter, { limit: PAGE, cursor })
    found.push(...events.filter(({ seq }) => seq <= stretch.newest && seq >= stretch.oldest))
    if (next === null || events.length < PAGE || events.at(-1)!.seq <= stretch.oldest) return found
    cursor = next
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // The signal ends the pause; whoever waits looks at it next.
  if (ms > 0) await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {})
}
