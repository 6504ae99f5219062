/** Operators' verbs on one event or on a filter: page by page, at a rate, with progress, and to be stopped at any time. */
import { HookonceError } from '../errors.js'
import type { EventFilter, EventKey, Order, OrderResult } from '../model.js'
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
  /** Ends it between two pages; what is done stays done. */
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
      problem: `${ratePerSecond} is not above 0`,
    })
  }
  const size = ratePerSecond === undefined ? PAGE : Math.max(1, Math.min(PAGE, Math.ceil(ratePerSecond / 5)))
  const refused: Record<string, number> = {}
  let matched = 0
  let done = 0
  let cursor: string | null = null
  while (!signal?.aborted) {
    const startedAt = performance.now()
    // Newest first, and each page below the last: an event that was moved is not met again.
    const page: Awaited<ReturnType<Store['list']>> = await store.list(filter, { limit: size, cursor })
    if (page.events.length > 0) {
      const results = await store.operate({ verb, events: page.events, actor, reason, force, dryRun })
      for (const result of results) {
        if (result.done) done++
        else refused[result.code] = (refused[result.code] ?? 0) + 1
      }
      matched += page.events.length
      onProgress?.({ matched, done, refused })
    }
    cursor = page.next
    if (cursor === null) break
    if (ratePerSecond !== undefined) {
      await pause((page.events.length / ratePerSecond) * 1_000 - (performance.now() - startedAt))
    }
  }
  return { matched, done, refused }
}

function pause(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}
