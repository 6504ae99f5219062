/** What came in from each source, by time, out of the history of the log: the newest part by minutes, the oldest by hours. */
import { DISTRIBUTION } from '../store/history.js'
import type { History, HistoryReport } from '../store.js'
import { HOUR_MS, REMEMBERED_HOURS } from './rhythm.js'

export interface Span {
  readonly from: number
  readonly to: number
  /** Events, new and known ones. */
  accepted: number
  /** By reason. */
  readonly rejected: Map<string, number>
}

export interface Timeline {
  /** The spans of each source, the oldest first. A span without deliveries is left out. */
  readonly spans: ReadonlyMap<string, readonly Span[]>
  /** Hours since 1970 in which a process of the log was running. */
  readonly awake: ReadonlySet<number>
}

export interface TimelineReader {
  read(now: number): Promise<Timeline>
}

const MINUTE_MS = 60_000
/** All sources of a log in one reading would take much memory. */
const READ_AT_ONCE_MS = 7 * 24 * HOUR_MS

/** Past hours do not change: they are read again once an hour. */
export function timelineReader(history: Pick<History, 'read'>): TimelineReader {
  let past: (Timeline & { readonly until: number }) | null = null

  async function add(found: Found, from: number, to: number, stepMs: number): Promise<void> {
    const { cells } = await history.read({ from, to, stepMs })
    for (const cell of cells) {
      // A distribution is summed over the whole range.
      if (cell.name.startsWith(DISTRIBUTION)) continue
      // Every process counts something in every hour, if only that it is alive.
      found.awake.add(Math.floor(cell.at / HOUR_MS))
      addCell(found.spans, cell, stepMs)
    }
  }

  async function readPast(until: number): Promise<Timeline & { readonly until: number }> {
    const found: Found = { spans: new Map(), awake: new Set() }
    for (let from = until - REMEMBERED_HOURS * HOUR_MS; from < until; from += READ_AT_ONCE_MS)
      await add(found, from, Math.min(until, from + READ_AT_ONCE_MS), HOUR_MS)
    return { spans: inOrder(found.spans), awake: found.awake, until }
  }

  return {
    async read(now) {
      // Within the times for which the log has minutes and ten minutes.
      const minutesFrom = Math.floor(now / HOUR_MS) * HOUR_MS - HOUR_MS
      const tensFrom = minutesFrom - 45 * HOUR_MS
      if (past?.until !== tensFrom) past = await readPast(tensFrom)
      const recent: Found = { spans: new Map(), awake: new Set(past.awake) }
      await add(recent, tensFrom, minutesFrom, 10 * MINUTE_MS)
      await add(recent, minutesFrom, minutesFrom + 3 * HOUR_MS, MINUTE_MS)
      const spans = new Map(past.spans)
      for (const [source, own] of inOrder(recent.spans))
        spans.set(source, [...(spans.get(source) ?? []), ...own])
      return { spans, awake: recent.awake }
    },
  }
}

interface Found {
  readonly spans: Map<string, Map<number, Span>>
  readonly awake: Set<number>
}

function addCell(
  spans: Found['spans'],
  { source, name, at, value }: HistoryReport['cells'][number],
  stepMs: number,
): void {
  const [kind, reason = ''] = name.split(' ', 2)
  if (kind !== 'recorded' && kind !== 'duplicates' && kind !== 'rejected') return
  const own = spans.get(source) ?? new Map<number, Span>()
  spans.set(source, own)
  const span = own.get(at) ?? { from: at, to: at + stepMs, accepted: 0, rejected: new Map() }
  own.set(at, span)
  if (kind === 'rejected') span.rejected.set(reason, (span.rejected.get(reason) ?? 0) + value)
  else span.accepted += value
}

function inOrder(spans: Found['spans']): Timeline['spans'] {
  return new Map(
    [...spans].map(([source, own]) => [source, [...own.values()].sort((a, b) => a.from - b.from)]),
  )
}
