/** The options of `alerts`, and how each number is measured. */
import type { SourceCounters } from '../counters.js'
import { type Duration, msOf } from '../duration.js'
import { invalid } from '../errors.js'
import type { WholeInbox } from '../inbox/internals.js'
import { duration, MAX_TIMER_MS, numberFrom, type Rule, required, shape } from '../options.js'
import { rejectReasons } from '../provider.js'
import { statsOf } from './metrics.js'
import { type Notify, notifyRule } from './notify.js'

export interface Alerts {
  /** Dead letters in the log. */
  readonly deadLetters?: { readonly above: number }
  /** How long the oldest event that waits for a worker has been due. */
  readonly oldestAge?: { readonly above: Duration }
  /** Deliveries with a wrong signature, token or timestamp, in the last minute, in this process. */
  readonly signatureFailures?: { readonly perMinute: number }
  /** Deliveries with a known id and other bytes, in the last minute, in this process. */
  readonly conflicts?: { readonly perMinute: number }
  /** Events with the signed content of another one, in the last minute, in this process. */
  readonly flagged?: { readonly perMinute: number }
  /** Events put on the review list (no process handles their type, or withheld), in the last minute, in this process. */
  readonly review?: { readonly perMinute: number }
  readonly notify: Notify
  /** Time between two checks. Default `15s`. */
  readonly every?: Duration
  /** How long an alert that has fired does not fire again. Default `15m`. */
  readonly cooldown?: Duration
}

export interface Measured {
  readonly value: number
  /** The value of each source where it is not 0. */
  readonly sources: Readonly<Record<string, number>>
}

export interface AlertRule {
  readonly name: 'deadLetters' | 'oldestAge' | 'signatureFailures' | 'conflicts' | 'flagged' | 'review'
  readonly what: string
  readonly unit: string
  readonly threshold: number
  /** Null when it cannot be measured now. */
  measure(now: number): Promise<Measured | null>
}

const alertDuration = duration(1, MAX_TIMER_MS)
const perMinute = shape({ perMinute: required(numberFrom(0)) })

export const alertsRule = shape({
  deadLetters: shape({ above: required(numberFrom(0)) }),
  oldestAge: shape({ above: required(alertDuration) }),
  signatureFailures: perMinute,
  conflicts: perMinute,
  flagged: perMinute,
  review: perMinute,
  notify: notifyRule,
  every: alertDuration,
  cooldown: alertDuration,
} satisfies Record<keyof Alerts, Rule>)

export function alertRules(inbox: WholeInbox, alerts: Alerts, now: number): readonly AlertRule[] {
  const { deadLetters, oldestAge, signatureFailures, conflicts, flagged, review } = alerts
  const rules: AlertRule[] = []
  if (deadLetters)
    rules.push({
      name: 'deadLetters',
      what: 'dead letters',
      unit: 'events',
      threshold: deadLetters.above,
      measure: async () => sum(await fromLog(inbox, (stats) => stats.dead)),
    })
  if (oldestAge)
    rules.push({
      name: 'oldestAge',
      what: 'the oldest event that waits',
      unit: 'seconds',
      threshold: msOf(oldestAge.above, 0) / 1_000,
      measure: async (at) =>
        most(
          await fromLog(inbox, (stats) =>
            stats.oldestDueAt === null ? 0 : Math.max(0, at - stats.oldestDueAt) / 1_000,
          ),
        ),
    })
  if (signatureFailures)
    rules.push({
      ...{
        name: 'signatureFailures',
        what: 'deliveries with a wrong signature, token or timestamp',
        unit: 'a minute',
      },
      threshold: signatureFailures.perMinute,
      measure: lastMinute(inbox, now, (own) =>
        rejectReasons.reduce((all, reason) => all + (own.rejected[reason] ?? 0), 0),
      ),
    })
  if (conflicts)
    rules.push({
      name: 'conflicts',
      what: 'known ids with other bytes',
      unit: 'a minute',
      threshold: conflicts.perMinute,
      measure: lastMinute(inbox, now, (own) => own.conflicts),
    })
  if (flagged)
    rules.push({
      name: 'flagged',
      what: 'events with known signed content',
      unit: 'a minute',
      threshold: flagged.perMinute,
      measure: lastMinute(inbox, now, (own) => own.flagged),
    })
  if (review)
    rules.push({
      name: 'review',
      what: 'events put on the review list',
      unit: 'a minute',
      threshold: review.perMinute,
      measure: lastMinute(inbox, now, (own) => own.reviewed),
    })
  if (rules.length === 0)
    throw invalid(
      'alerts',
      'needs at least one of deadLetters, oldestAge, signatureFailures, conflicts, flagged and review',
    )
  return rules
}

async function fromLog(
  inbox: WholeInbox,
  value: (stats: { dead: number; oldestDueAt: number | null }) => number,
): Promise<[string, number][] | null> {
  const stats = await statsOf(inbox)
  return stats?.map((source) => [source.source, value(source)]) ?? null
}

/** The growth of a counter in the last minute, from samples that are kept for that time. */
function lastMinute(inbox: WholeInbox, startedAt: number, value: (own: Readonly<SourceCounters>) => number) {
  const read = () => new Map([...inbox.counters.bySource].map(([source, own]) => [source, value(own)]))
  const samples: { at: number; counts: Map<string, number> }[] = [{ at: startedAt, counts: read() }]
  return async (now: number): Promise<Measured | null> => {
    const counts = read()
    samples.push({ at: now, counts })
    // Keeps one sample that is at least a minute old, so that a whole minute is measured.
    while (samples.length > 2 && samples[1]!.at <= now - 60_000) samples.shift()
    const before = samples[0]!.counts
    return sum([...counts].map(([source, all]) => [source, all - (before.get(source) ?? 0)]))
  }
}

function sum(bySource: readonly [string, number][] | null): Measured | null {
  return (
    bySource && { value: bySource.reduce((all, [, value]) => all + value, 0), sources: present(bySource) }
  )
}

function most(bySource: readonly [string, number][] | null): Measured | null {
  return bySource && { value: Math.max(0, ...bySource.map(([, value]) => value)), sources: present(bySource) }
}

function present(bySource: readonly [string, number][]): Record<string, number> {
  return Object.fromEntries(bySource.filter(([, value]) => value > 0))
}
