/**
 * list: newest first. The filter chooses the indexes to walk; rows are read in growing steps up to a limit, so that no
 * filter makes a call slow. A page that ends at this limit has `cut` set, and a cursor to continue.
 */
import { invalid } from '../../errors.js'
import { isGlob } from '../../glob.js'
import type { EventFilter, EventPage, EventRecord } from '../../model.js'
import { type Steps, step } from './steps.js'

export const DEFAULT_PAGE = 50

/** A cursor is the last seq of a page, encoded to keep callers from relying on it. */
export function encodeCursor(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url')
}

export function decodeCursor(text: string): number {
  const digits = Buffer.from(String(text), 'base64url').toString('latin1')
  const seq = Number(digits)
  if (!/^[1-9]\d{0,15}$/.test(digits) || !Number.isSafeInteger(seq) || encodeCursor(seq) !== text) {
    throw invalid('cursor', 'must be the value that a page of this list returned')
  }
  return seq
}

/** Only failed events can be dead. Null when no event can match: the filter names `dead` and another state. */
function withImpliedState(filter: EventFilter): EventFilter | null {
  if (filter.dead === undefined || filter.state === 'failed') return filter
  return filter.state === undefined ? { ...filter, state: 'failed' } : null
}

/** `work` has every unfinished event, `leased` and `retrying` some of them. `ignored` and `dead` events are parked. */
export type ListIndex =
  | 'key'
  | 'reference'
  | 'references'
  | 'work'
  | 'leased'
  | 'retrying'
  | 'ignored'
  | 'dead'
  | 'flagged'
  | 'conflicts'
  | 'duplicates'
  | 'types'
  | 'all'

/** More pairs of source and type than this: the whole log is read instead. */
export const PAIRS_AT_MOST = 256

/** The most selective condition chooses; the others are checked on the rows found. */
function indexesFor(filter: EventFilter): readonly ListIndex[] {
  const { state, dead } = filter
  if (filter.id !== undefined) return ['key']
  if (filter.reference !== undefined) return ['reference', 'references']
  if (state === 'pending') return ['work']
  if (state === 'processing') return ['leased']
  if (state === 'ignored') return ['ignored']
  if (dead !== undefined) return dead ? ['dead'] : ['retrying', 'leased']
  if (state === 'failed') return ['retrying', 'leased', 'dead']
  const givesReason = filter.reason !== undefined || filter.reasonLike !== undefined
  if (givesReason && state === undefined) return ['retrying', 'leased', 'dead', 'ignored']
  if (filter.flagged) return ['flagged']
  if (filter.hasConflict) return ['conflicts']
  if (filter.hasDuplicates) return ['duplicates']
  return ['types']
}

export interface Walk {
  readonly index: ListIndex
  readonly keys: readonly Key[]
}

export type Key = readonly string[]

type Call<T> = T | Promise<T>

export interface ListedLog {
  range(
    from: number,
    to: number,
    source?: string,
  ): Call<{ readonly first: number; readonly last: number } | null>
  sources(): Call<string[]>
  pairs(filter: EventFilter): Call<[string, string][] | null>
  look(walks: readonly Walk[], filter: EventFilter, step: LookStep): Call<Looked>
  portion(below: number, from: number, size: number): Call<Portion>
  /** Newest first. */
  events(seqs: readonly number[]): Call<EventRecord[]>
}

/** Reads seqs from `from` to below `below`, at most `each` of each key, and returns at most `want` that match. */
export interface LookStep {
  readonly below: number
  readonly from: number
  readonly each: number
  readonly want: number
}

export interface Looked {
  /** Newest first. */
  readonly seqs: readonly number[]
  readonly looked: number
  /**
   * All rows from this seq upwards were read; null when there are none below it. When one key has more rows than were read,
   * the next step reads below its last row for every key. Otherwise the order would be wrong.
   */
  readonly floor: number | null
}

/** One call reads about this many rows at most: some 50 ms when they are in memory. */
const SCAN_AT_MOST = 10_000
/** A key with many rows would otherwise take many steps. */
const KEY_AT_LEAST = 8
const END_OF_TIME = 253_402_300_799_999

const empty: EventPage = { events: [], next: null }

export function* listEvents(
  log: ListedLog,
  input: EventFilter,
  limit: number,
  cursor: string | null,
): Steps<EventPage> {
  const filter = withImpliedState(input)
  if (filter === null) return empty
  let below = cursor === null ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor)
  const { from: since, to, source } = filter
  let from = 0
  if (since !== undefined || to !== undefined) {
    const range = yield* step(() => log.range(since ?? 0, to ?? END_OF_TIME, source))
    if (range === null) return empty
    from = range.first
    below = Math.min(below, range.last + 1)
  }
  const walks = yield* walksOf(log, filter)
  const keyCount = walks.reduce((sum, { keys }) => sum + keys.length, 0)
  if (keyCount === 0) return empty
  const seqs: number[] = []
  const page = function* (next: number | null, cut: boolean): Steps<EventPage> {
    const events = seqs.length === 0 ? [] : yield* step(() => log.events(seqs))
    return { events, next: next === null ? null : encodeCursor(next), ...(cut && { cut }) }
  }
  let rows = Math.max(2 * limit, 200)
  let mayPass = passesBacklog(filter)
  for (let looked = 0; looked < SCAN_AT_MOST; rows = Math.min(rows * 4, SCAN_AT_MOST)) {
    const each = Math.max(KEY_AT_LEAST, Math.ceil(rows / keyCount))
    // One more than the page shows that there is a next page.
    const want = limit + 1 - seqs.length
    const found = yield* step(() => log.look(walks, filter, { below, from, each, want }))
    seqs.push(...found.seqs)
    looked += found.looked
    if (seqs.length > limit) {
      seqs.pop()
      return yield* page(seqs.at(-1)!, false)
    }
    if (found.floor === null) return yield* page(null, false)
    below = found.floor
    if (found.seqs.length === 0 && mayPass) {
      below = yield* passBacklog(log, below, from)
      mayPass = false
    }
  }
  return yield* page(below, true)
}

function* walksOf(log: ListedLog, filter: EventFilter): Steps<Walk[]> {
  const { source, id, type, reference } = filter
  const indexes = indexesFor(filter)
  const [index] = indexes
  if (index === 'types') {
    if (source === undefined && type === undefined) return [{ index: 'all', keys: [[]] }]
    const keys = yield* step(() => log.pairs(filter))
    return [keys === null ? { index: 'all', keys: [[]] } : { index, keys }]
  }
  if (reference !== undefined && index === 'reference') {
    const keys = [[reference]]
    return indexes.map((one) => ({ index: one, keys }))
  }
  if (!bySource.has(index!)) return indexes.map((one) => ({ index: one, keys: [[]] }))
  const sources = source === undefined ? yield* step(() => log.sources()) : [source]
  const keys = sources.map((name) => (index === 'key' ? [name, id!] : [name]))
  return indexes.map((one) => ({ index: one, keys }))
}

const bySource: ReadonlySet<ListIndex> = new Set([
  'key',
  'leased',
  'retrying',
  'ignored',
  'dead',
  'conflicts',
])

/** The newest events below a seq: their number, the lowest seq, and how many of them are in `work`. */
export interface Portion {
  readonly events: number
  readonly lowest: number | null
  readonly waiting: number
}

/** One call passes over this much of a backlog: to count events takes a tenth of the time of reading them. */
const PASSED_AT_MOST = 400_000
const PORTION_AT_LEAST = 2_000
const PORTION_AT_MOST = 100_000

/**
 * The events of a backlog can be passed over. No index has the succeeded events: on PostgreSQL each success would
 * have to update its event, 503 bytes of WAL beside the 314 of a settled event now, for a list that people read.
 */
function passesBacklog(filter: EventFilter): boolean {
  return filter.state === 'succeeded'
}

/**
 * Finds the first finished event below a seq, and returns the seq to go on below. A portion whose events are all in `work`
 * is passed over; one with others is counted again in smaller parts.
 */
function* passBacklog(log: ListedLog, start: number, from: number): Steps<number> {
  let below = start
  let size = PORTION_AT_LEAST
  let isMixed = false
  for (let passed = 0; passed < PASSED_AT_MOST; ) {
    const { events, lowest, waiting } = yield* step(() => log.portion(below, from, size))
    if (lowest !== null && events === waiting) {
      below = lowest
      passed += events
      if (!isMixed) size = Math.min(size * 4, PORTION_AT_MOST)
    } else if (lowest === null || size === PORTION_AT_LEAST) {
      return below
    } else {
      isMixed = true
      size = Math.max(Math.floor(size / 4), PORTION_AT_LEAST)
    }
  }
  return below
}

/** Conditions in the SQL of a database, on `events e`, `work w` and `duplicates d` of an event. */
export interface Dialect {
  readonly state: string
  readonly reason: string
  readonly attempts: string
  readonly hasConflict: string
  value(value: string | number | boolean): string
  hasReference(value: string, label: string): string
  instant(ms: number): string
  /** `glob`: a pattern with `*`. */
  like(column: string, glob: string): string
}

export function conditionsOf(filter: EventFilter, dialect: Dialect): string[] {
  const { state, reason, attempts, hasConflict, hasReference, value, instant, like } = dialect
  const { type, from, to } = filter
  const checks: string[] = []
  const equal = (sql: string, given: string | boolean | undefined) => {
    if (given !== undefined) checks.push(`${sql} = ${value(given)}`)
  }
  equal('e.source', filter.source)
  equal('e.event_id', filter.id)
  if (type !== undefined && isGlob(type)) checks.push(like('e.event_type', type))
  else equal('e.event_type', type)
  if (filter.reference !== undefined)
    checks.push(
      hasReference(value(filter.reference), filter.label === undefined ? 'null' : value(filter.label)),
    )
  equal(state, filter.state)
  if (filter.dead !== undefined) equal("(coalesce(e.parked, '') = 'dead')", filter.dead)
  if (filter.reason !== undefined || filter.reasonLike !== undefined)
    checks.push(`${state} in ('ignored', 'failed')`)
  equal(reason, filter.reason)
  if (filter.reasonLike !== undefined) checks.push(like(reason, filter.reasonLike))
  if (filter.minAttempts !== undefined) checks.push(`${attempts} >= ${value(filter.minAttempts)}`)
  if (from !== undefined) checks.push(`e.received_at >= ${instant(from)}`)
  if (to !== undefined) checks.push(`e.received_at < ${instant(to)}`)
  equal('(d.seq is not null)', filter.hasDuplicates)
  equal(hasConflict, filter.hasConflict)
  equal('(e.same_as is not null)', filter.flagged)
  return checks
}
