import { Counters } from '../../counters.js'
import type { WholeInbox } from '../../inbox/internals.js'
import { oldestUnfinished } from '../../processing/oldest.js'
import { LOG_ITSELF } from '../../store/history.js'
import { inspectOf } from './capabilities.js'
import { instant, withInstants } from './views.js'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export const windows = {
  '1h': { ms: HOUR_MS, stepMs: MINUTE_MS },
  '24h': { ms: DAY_MS, stepMs: 10 * MINUTE_MS },
  '7d': { ms: 7 * DAY_MS, stepMs: HOUR_MS },
  '30d': { ms: 30 * DAY_MS, stepMs: 6 * HOUR_MS },
} as const
export type Window = keyof typeof windows

export const countNames = [
  'received',
  'recorded',
  'duplicates',
  'succeeded',
  'ignored',
  'failed',
  'dead',
  'conflicts',
  'rejected',
  'flagged',
] as const
export type CountName = (typeof countNames)[number]
export type Counts = Record<CountName, number>

export interface WindowReport {
  readonly stepMs: number
  readonly at: readonly number[]
  readonly sources: ReadonlyMap<string, SourceWindow>
}

export interface SourceWindow {
  readonly series: Record<CountName, number[]>
  readonly rejected: Record<string, number>
  readonly ack: number[]
  readonly handle: number[]
}

const boundsMs = new Counters().of('').ackSeconds.bounds.map((seconds) => seconds * 1_000)

/** The last bucket is the current one, and not complete. */
export async function readWindow(inbox: WholeInbox, window: Window): Promise<WindowReport> {
  const { ms, stepMs } = windows[window]
  const to = Math.floor(Date.now() / stepMs) * stepMs + stepMs
  const from = to - ms
  const length = ms / stepMs
  const { cells } = await inbox.history.read({ from, to, stepMs })
  const sources = new Map<string, SourceWindow>()
  for (const { source, name, value, at } of cells) {
    if (source === LOG_ITSELF) continue
    let own = sources.get(source)
    if (own === undefined) {
      own = emptySource(length)
      sources.set(source, own)
    }
    const i = Math.floor((at - from) / stepMs)
    if (i < 0 || i >= length) continue
    const [kind = '', reason = ''] = name.split(' ', 2)
    if (kind === 'rejected') own.rejected[reason] = (own.rejected[reason] ?? 0) + value
    const measure = kind === '~ack' ? own.ack : kind === '~handle' ? own.handle : null
    if (measure) measure[Number(reason)] = (measure[Number(reason)] ?? 0) + value
    else if (kind in own.series) own.series[kind as CountName][i]! += value
  }
  return { stepMs, at: Array.from({ length }, (_, i) => from + i * stepMs), sources }
}

function emptySource(length: number): SourceWindow {
  const series = Object.fromEntries(
    countNames.map((name) => [name, new Array<number>(length).fill(0)]),
  ) as Record<CountName, number[]>
  const parts = () => new Array<number>(boundsMs.length + 1).fill(0)
  return { series, rejected: {}, ack: parts(), handle: parts() }
}

export function countsOf({ series }: SourceWindow): Counts {
  return Object.fromEntries(countNames.map((name) => [name, sum(series[name])])) as Counts
}

/** Interpolates inside a bucket. Above all bounds it returns the highest bound. */
export function latencyOf(parts: readonly number[]) {
  const count = sum(parts)
  const at = (share: number): number | null => {
    if (count === 0) return null
    let below = 0
    for (const [i, number] of parts.entries()) {
      if (number > 0 && below + number >= share * count) {
        const low = i === 0 ? 0 : boundsMs[i - 1]!
        const high = boundsMs[i] ?? low
        return round(low + (high - low) * ((share * count - below) / number))
      }
      below += number
    }
    return boundsMs.at(-1)!
  }
  return { count, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) }
}

export async function overviewOf(inbox: WholeInbox, window: Window) {
  const [report, stats] = await Promise.all([readWindow(inbox, window), inbox.events.stats()])
  const named = [...report.sources].sort(([a], [b]) => (a < b ? -1 : 1))
  const total = emptySource(report.at.length)
  for (const [, own] of named) {
    for (const name of countNames) addTo(total.series[name], own.series[name])
    addTo(total.ack, own.ack)
    addTo(total.handle, own.handle)
  }
  const oldest = await oldestWaiting(inbox)
  const all = (name: 'pending' | 'processing' | 'retrying' | 'dead' | 'ignored') =>
    stats.reduce((found, source) => found + source[name], 0)
  return {
    window,
    stepMs: report.stepMs,
    at: report.at.map((at) => instant(at)),
    totals: countsOf(total),
    series: total.series,
    latency: { ack: latencyOf(total.ack), handle: latencyOf(total.handle) },
    sources: named.map(([source, own]) => ({
      source,
      totals: countsOf(own),
      received: own.series.received,
      latency: { ack: latencyOf(own.ack), handle: latencyOf(own.handle) },
    })),
    now: {
      pending: all('pending'),
      processing: all('processing'),
      retrying: all('retrying'),
      dead: all('dead'),
      ignored: all('ignored'),
      oldest,
      estimated: stats.some(({ estimated }) => estimated === true),
    },
  }
}

/** With the reason why it waits. */
async function oldestWaiting(inbox: WholeInbox) {
  const event = await oldestUnfinished(await inspectOf(inbox))
  if (event === undefined) return null
  const [waiting = null] = await inbox.events.waiting([event])
  const { source, id, receivedAt } = event
  return withInstants({ source, id, receivedAt, ageMs: Math.max(0, Date.now() - receivedAt), waiting })
}

function addTo(total: number[], values: readonly number[]): void {
  for (const [i, value] of values.entries()) total[i]! += value
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function round(ms: number): number {
  return ms < 10 ? Math.round(ms * 100) / 100 : Math.round(ms)
}
