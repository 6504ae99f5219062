/** Actions of operators (retry, replay, ignore) on one event, or page by page on all events of a filter. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HookonceError } from '../errors.js'
import type { Action, ActionResult, EventFilter, EventKey, EventPage, EventRecord } from '../model.js'
import type { Store } from '../store.js'

export interface ActionOptions {
  /** Written to the audit, with `note`. Default `inbox`. */
  readonly actor?: string
  readonly note?: string
  /** Required to replay succeeded events. */
  readonly force?: boolean
  /** Changes nothing; only reports what would be done. */
  readonly dryRun?: boolean
  /**
   * `replay`: run the other content of the latest conflict; the present content is then kept beside it. `ignore`: decide
   * for the present content, and change nothing else. Both close the conflict.
   */
  readonly conflict?: boolean
}

/** With `conflict`, many events can only be ignored: an operator compares both contents before the other one runs. */
export interface BulkOptions extends ActionOptions {
  readonly ratePerSecond?: number
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
  const [result] = await store.operate({ verb, events: [key], actor, note, force, dryRun, conflict })
  return result!
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
