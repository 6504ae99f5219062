/** Whether the deliveries of a source are rejected: instead of being accepted, or beside others that are. */
import { rejectReasons } from '../provider.js'
import { type Alarm, alarm, type Past } from './alarm.js'
import { causeOf, type Rejected, rejectedAs } from './causes.js'
import { expectedBetween, HOUR_MS, type Rhythm } from './rhythm.js'
import type { Span } from './timeline.js'

const DAY_MS = 24 * HOUR_MS
/** Enough to be no accident, and few enough for a source with some deliveries a day, whose sender retries. */
const REJECTED_AT_LEAST = 10
/** Where the rhythm says nothing: it is not known, or other deliveries are accepted. */
const REJECTED_OF_UNKNOWN = 20
const REJECTED_SHARE = 0.2

/** The secret or the key was changed, or the sender has another one. */
export function rejectedAlarm(past: Past, last: Span | null, rhythm: Rhythm | null): Alarm[] {
  const since = rejectedAfter(past.spans, last === null ? 0 : last.to)
  return isReplaced(past, last, rhythm, since)
    ? [alarm(past, 'rejected', last, causeOf(past.watched, since))]
    : rejectedBeside(past)
}

function isReplaced(
  { spans, now }: Past,
  last: Span | null,
  rhythm: Rhythm | null,
  since: Rejected,
): boolean {
  if (last !== null && rhythm !== null)
    // Deliveries must be missing too: strangers may post to a source that is asleep.
    return (
      badCredentials(since) >= REJECTED_AT_LEAST &&
      expectedBetween(rhythm, last.to, now) >= 3 * Math.max(1, rhythm.together)
    )
  const lately = Math.max(now - DAY_MS, last?.to ?? 0)
  return badCredentials(rejectedAfter(spans, lately)) >= REJECTED_OF_UNKNOWN
}

/** Much more is rejected than usual, while other deliveries are accepted: a second endpoint or secret, or somebody else. */
function rejectedBeside(past: Past): Alarm[] {
  const { watched, spans, now } = past
  const hours = byHour(spans)
  const counts = [...hours.values()].map(({ rejected }) => rejected).sort((a, b) => a - b)
  const limit = Math.max(REJECTED_OF_UNKNOWN, 3 * (counts[Math.floor(counts.length * 0.95) - 1] ?? 0))
  const lately = spans.filter(({ from }) => from > now - HOUR_MS)
  const accepted = lately.reduce((sum, span) => sum + span.accepted, 0)
  const rejected = rejectedAfter(lately, 0)
  const bad = badCredentials(rejected)
  if (accepted === 0 || bad < limit || bad < REJECTED_SHARE * (bad + accepted)) return []
  let first = Math.floor(now / HOUR_MS)
  while ((hours.get(first - 1)?.rejected ?? 0) >= limit / 4) first--
  return [
    {
      id: `rejected:${past.source}:${first}:beside`,
      kind: 'rejected',
      source: past.source,
      since: first * HOUR_MS,
      text: `${past.source}: ${bad} of ${bad + accepted} deliveries in the last hour were ${rejectedAs(rejected)}, more than usual.`,
      todo: `${causeOf(watched, rejected).todo} Others are accepted: a second endpoint at the sender may have another secret, or somebody else posts to this address.`,
    },
  ]
}

const badReasons: readonly string[] = rejectReasons

/** Others, such as an unavailable store, are faults of ours, and say nothing about a secret. */
function badCredentials(rejected: Rejected): number {
  let count = 0
  for (const [reason, times] of rejected) if (badReasons.includes(reason)) count += times
  return count
}

export function rejectedAfter(spans: readonly Span[], from: number): Rejected {
  const found = new Map<string, number>()
  for (const span of spans)
    if (span.from >= from)
      for (const [reason, count] of span.rejected) found.set(reason, (found.get(reason) ?? 0) + count)
  return found
}

function byHour(spans: readonly Span[]): Map<number, { rejected: number }> {
  const hours = new Map<number, { rejected: number }>()
  for (const { from, rejected } of spans) {
    const hour = Math.floor(from / HOUR_MS)
    const own = hours.get(hour) ?? { rejected: 0 }
    own.rejected += badCredentials(rejected)
    hours.set(hour, own)
  }
  return hours
}
