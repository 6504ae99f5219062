/** Types that came on every day on which their source delivered, and do not any more. */
import type { Store } from '../store.js'
import { HOUR_MS } from './rhythm.js'
import type { Span } from './timeline.js'

export interface StoppedType {
  readonly type: string
  readonly lastAt: number
  readonly days: number
}

const DAY_MS = 24 * HOUR_MS
const MISSING_DAYS = 3
const PRESENT_DAYS = 10
/** Three days missing after twenty days present, four after ten: less often than once in ten years by chance. */
const EVIDENCE = 9
/** Of the usual deliveries of a day. Fewer: a day of rest, which says nothing about a type. */
const ACTIVE = 0.2

export async function stoppedTypes(
  store: Pick<Store, 'list'>,
  source: string,
  types: readonly string[],
  spans: readonly Span[],
  now: number,
): Promise<StoppedType[]> {
  const active = activeDays(spans, now)
  const stopped: StoppedType[] = []
  for (const type of types) {
    const newest = (await store.list({ source, type }, { limit: 1 })).events[0]
    if (newest === undefined || newest.receivedAt > now - MISSING_DAYS * DAY_MS) continue
    const lastDay = Math.floor(newest.receivedAt / DAY_MS)
    const missing = active.filter((day) => day > lastDay).length
    const before = active.filter((day) => day <= lastDay)
    if (missing < MISSING_DAYS || before.length < PRESENT_DAYS) continue
    if (missing * Math.log(before.length + 1) < EVIDENCE) continue
    if (await cameOnEach(store, source, type, before))
      stopped.push({ type, lastAt: newest.receivedAt, days: missing })
  }
  return stopped
}

async function cameOnEach(
  store: Pick<Store, 'list'>,
  source: string,
  type: string,
  days: readonly number[],
): Promise<boolean> {
  for (const day of days) {
    const range = { source, type, from: day * DAY_MS, to: (day + 1) * DAY_MS }
    if ((await store.list(range, { limit: 1 })).events.length === 0) return false
  }
  return true
}

/** Complete days on which the source delivered as usual, as days since 1970. */
function activeDays(spans: readonly Span[], now: number): number[] {
  const counts = new Map<number, number>()
  for (const { from, accepted } of spans) {
    const day = Math.floor(from / DAY_MS)
    counts.set(day, (counts.get(day) ?? 0) + accepted)
  }
  const sorted = [...counts.values()].filter((count) => count > 0).sort((a, b) => a - b)
  const usual = sorted[Math.floor(sorted.length / 2)] ?? 0
  const today = Math.floor(now / DAY_MS)
  return [...counts]
    .filter(([day, count]) => day < today && count >= Math.max(1, ACTIVE * usual))
    .map(([day]) => day)
    .sort((a, b) => a - b)
}
