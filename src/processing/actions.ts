/** Actions of operators (retry, replay, ignore) on one event, or page by page on all events of a filter. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HookonceError } from '../errors.js'
import {
  type Action,
  type ActionResult,
  type EventFilter,
  type EventKey,
  type EventPage,
  type EventRecord,
  limits,
} from '../model.js'
import { checkStored, resultText } from '../once.js'
import type { Store } from '../store.js'

export interface ActionOptions {
  /** Written to the audit, with `note`. Default `inbox`. */
  readonly actor?: string
  /** A note, for the audit. */
  readonly note?: string
  /** Required to replay succeeded events. */
  readonly force?: boolean
  /**
   * For a retry or replay of one event: what you have found out about effects of `ctx.once` whose end is unknown, by name. The
   * result, as in `{ charge: { id: 'ch_1' } }`, is used in place of a call; `null` = it did not happen, and it runs.
   */
  readonly effects?: Readonly<Record<string, unknown>>
  /** Changes nothing; only reports what would be done. */
  readonly dryRun?: boolean
  /**
   * `replay`: run other content; the present one is then kept beside it. `ignore`: decide for the present content, and
   * change nothing else. The hash (`lastConflict.hash`) names the other content that you have seen: when it is no longer
   * open, the action is refused with CONFLICT_CHANGED. `true`: `replay` runs the latest one, `ignore` decides against all.
   */
  readonly conflict?: boolean | string
}

/** With `conflict`, many events can only be ignored: an operator compares both contents before the other one runs. */
export interface BulkOptions extends ActionOptions {
  /** Decides about the open conflict of each event. */
  readonly conflict?: boolean
  /** The most events per second. Default: no limit. */
  readonly ratePerSecond?: number
  /** Called after each batch. */
  readonly onProgress?: (progress: BulkResult) => void
  /** Stops between two pages, or while it waits for the rate. Actions that were carried out are not undone. */
  readonly signal?: AbortSignal
}

export interface BulkResult {
  readonly matched: number
  readonly done: number
  /** Events that were not changed, by the code of the reason. */
  readonly refused: Readonly<Record<string, number>>
}

const PAGE = 200

type ActionStore = Pick<Store, 'list' | 'operate'>

export async function actOnEvent(
  store: ActionStore,
  verb: Action['verb'],
  key: EventKey,
  options: ActionOptions,
): Promise<ActionResult> {
  const { actor = 'inbox', note = '', force = false, dryRun = false, conflict = false } = options
  const decided = options.effects && { effects: asResults(options.effects) }
  const action = { verb, events: [key], actor, note, force, dryRun, conflict, ...decided }
  const [result] = await store.operate(action)
  return result!
}

function asResults(effects: Readonly<Record<string, unknown>>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(effects).map(([name, result]) => {
      if (result === null) return [name, null]
      const text = resultText(result, limits.effectResultBytes)
      checkStored(`effect "${name}"`, text)
      return [name, text]
    }),
  )
}

export async function actOnEvents(
  store: ActionStore,
  verb: Action['verb'],
  wanted: EventFilter | readonly EventKey[],
  options: BulkOptions,
): Promise<BulkResult> {
  const {
    actor = 'inbox',
    note = '',
    force = false,
    dryRun = false,
    conflict = false,
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
  if (typeof conflict !== 'boolean')
    throw new HookonceError('INVALID_INPUT', {
      what: 'conflict',
      problem: 'must be a boolean for many events: a hash names the content of one',
    })
  if (options.effects)
    throw new HookonceError('INVALID_INPUT', { what: 'effects', problem: 'is about one event: name it' })
  if (conflict && verb !== 'ignore')
    throw new HookonceError('INVALID_INPUT', {
      what: 'conflict',
      problem: `cannot ${verb} many events at once: name one event`,
    })
  const size = ratePerSecond === undefined ? PAGE : Math.max(1, Math.min(PAGE, Math.ceil(ratePerSecond / 5)))
  const refused: Record<string, number> = {}
  let matched = 0
  let done = 0
  let freeAt = 0
  const pages = isList(wanted) ? [wanted] : oldestFirst(store, wanted, signal)
  for await (const events of pages) {
    for (let at = 0; at < events.length; at += size) {
      await pause(freeAt - performance.now(), signal)
      if (signal?.aborted) break
      const chunk = events.slice(at, at + size)
      if (ratePerSecond !== undefined) freeAt = performance.now() + (chunk.length / ratePerSecond) * 1_000
      const results = await store.operate({ verb, events: chunk, actor, note, force, dryRun, conflict })
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

function isList(wanted: EventFilter | readonly EventKey[]): wanted is readonly EventKey[] {
  return Array.isArray(wanted)
}

/** A page as it was first read, with the seqs of its first and last event. */
interface PageRange {
  readonly cursor: string | null
  readonly newest: number
  readonly oldest: number
}

/**
 * Yields the oldest events first. A store lists newest first, so the list is read twice: first down, where only the ends of
 * each page are kept, then up again page by page. Each event is yielded once, even if its state changes meanwhile; events
 * recorded after the start are left out.
 */
async function* oldestFirst(
  store: ActionStore,
  filter: EventFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventRecord[], void> {
  const ranges: PageRange[] = []
  let cursor: string | null = null
  do {
    if (signal?.aborted) return
    const { events, next }: EventPage = await store.list(filter, { limit: PAGE, cursor })
    if (events.length > 0) ranges.push({ cursor, newest: events[0]!.seq, oldest: events.at(-1)!.seq })
    cursor = next
  } while (cursor !== null)
  for (const range of ranges.reverse()) {
    if (signal?.aborted) return
    yield (await listAgain(store, filter, range)).reverse()
  }
}

/** May return more than a page: other events between the ends may match the filter by now. */
async function listAgain(store: ActionStore, filter: EventFilter, range: PageRange): Promise<EventRecord[]> {
  const found: EventRecord[] = []
  let { cursor } = range
  for (;;) {
    const { events, next } = await store.list(filter, { limit: PAGE, cursor })
    found.push(...events.filter(({ seq }) => seq <= range.newest && seq >= range.oldest))
    if (next === null || events.length < PAGE || events.at(-1)!.seq <= range.oldest) return found
    cursor = next
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // An aborted signal ends the pause; the caller checks it next.
  if (ms > 0) await sleep(ms, undefined, signal ? { signal } : {}).catch(() => {})
}
