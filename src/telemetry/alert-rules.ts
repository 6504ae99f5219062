import type { SourceCounters } from '../counters.js'
import { type Duration, msOf } from '../duration.js'
import type { WholeInbox } from '../inbox/internals.js'
import { duration, MAX_TIMER_MS, numberFrom, type Rule, required, shape } from '../options.js'
import { rejectReasons } from '../provider.js'
import type { ReconcileSummary } from '../reconcile/summary.js'
import { oldestOf, reconciledOf, statsOf } from './metrics.js'
import { type Notify, notifyRule } from './notify.js'

export interface Alerts {
  /** Dead letters in the log. */
  readonly deadLetters?: { readonly above: number }
  /** Age of the oldest unfinished event since it was received, whenever it is due. */
  readonly oldestAge?: { readonly above: Duration }
  /** Deliveries with a wrong signature, token or timestamp, in the last minute, in this process. */
  readonly signatureFailures?: { readonly perMinute: number }
  /** Deliveries with a known id and other bytes, in the last minute, in this process. */
  readonly conflicts?: { readonly perMinute: number }
  /** Events with the signed content of another one, in the last minute, in this process. */
  readonly flagged?: { readonly perMinute: number }
  /** Events put on the review list (no process handles their type, or withheld), in the last minute, in this process. */
  readonly review?: { readonly perMinute: number }
  /** Events that a sender lists and the log lacks, after a comparison (`reconcile`). */
  readonly missing?: { readonly above: number }
  /** How long ago the log was last known to be complete, for sources that are compared with their sender. */
  readonly completeAge?: { readonly above: Duration }
  /** Who gets each notice, also those of silent and rejecting sources: `{ url, secret }` or a function. */
  readonly notify: Notify
  /** Time between two checks. Default `15s`. */
  readonly every?: Duration
  /** How long an alert that has fired does not fire again. Default `15m`. */
  readonly cooldown?: Duration
}

export interface Measured {
  readonly value: number
  /** Sources with a value above 0. */
  readonly sources: Readonly<Record<string, number>>
}

export interface AlertRule {
  readonly name:
    | 'deadLetters'
    | 'oldestAge'
    | 'signatureFailures'
    | 'conflicts'
    | 'flagged'
    | 'review'
    | 'missing'
    | 'completeAge'
  readonly what: string
  readonly unit: string
  readonly threshold: number
  /** It measures the log, so all of its processes find the same: only one of them tells. */
  readonly ofLog: boolean
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
  missing: shape({ above: required(numberFrom(0)) }),
  completeAge: shape({ above: required(alertDuration) }),
  notify: notifyRule,
  every: alertDuration,
  cooldown: alertDuration,
} satisfies Record<keyof Alerts, Rule>)

interface AlertKind {
  readonly what: string
  readonly unit: string
  readonly ofLog: boolean
  threshold(alerts: Alerts): number | undefined
  measure(inbox: WholeInbox, startedAt: number): AlertRule['measure']
}

const kinds: Readonly<Record<AlertRule['name'], AlertKind>> = {
  deadLetters: {
    what: 'dead letters',
    unit: 'events',
    ofLog: true,
    threshold: ({ deadLetters }) => deadLetters?.above,
    measure: (inbox) => async () => sum(await fromLog(inbox, (stats) => stats.dead)),
  },
  oldestAge: {
    what: 'the age of the oldest unfinished event',
    unit: 'seconds',
    ofLog: true,
    threshold: ({ oldestAge }) => oldestAge && msOf(oldestAge.above, 0) / 1_000,
    measure: (inbox) => async (now) => {
      const oldest = await oldestOf(inbox)
      if (oldest === null) return null
      return most(oldest ? [[oldest.source, Math.max(0, now - oldest.receivedAt) / 1_000]] : [])
    },
  },
  signatureFailures: {
    ...aMinute('signatureFailures', (own) =>
      rejectReasons.reduce((all, reason) => all + (own.rejected[reason] ?? 0), 0),
    ),
    what: 'deliveries with a wrong signature, token or timestamp',
  },
  conflicts: { ...aMinute('conflicts', (own) => own.conflicts), what: 'known ids with other bytes' },
  flagged: { ...aMinute('flagged', (own) => own.flagged), what: 'events with known signed content' },
  review: { ...aMinute('review', (own) => own.reviewed), what: 'events put on the review list' },
  missing: {
    what: 'events that the sender lists and the log lacks',
    unit: 'events',
    ofLog: true,
    threshold: ({ missing }) => missing?.above,
    measure: (inbox) => async () => sum(await fromReports(inbox, ({ missing }) => missing)),
  },
  completeAge: {
    what: 'the log was last known to be complete',
    unit: 'seconds ago',
    ofLog: true,
    threshold: ({ completeAge }) => completeAge && msOf(completeAge.above, 0) / 1_000,
    measure: (inbox) => async (now) =>
      most(await fromReports(inbox, ({ completeUntil }) => Math.max(0, now - completeUntil) / 1_000)),
  },
}

function aMinute(
  name: 'signatureFailures' | 'conflicts' | 'flagged' | 'review',
  value: (own: Readonly<SourceCounters>) => number,
): Omit<AlertKind, 'what'> {
  return {
    unit: 'a minute',
    ofLog: false,
    threshold: (alerts) => alerts[name]?.perMinute,
    measure: (inbox, startedAt) => lastMinute(inbox, startedAt, value),
  }
}

export function alertRules(inbox: WholeInbox, alerts: Alerts, now: number): readonly AlertRule[] {
  const names = Object.keys(kinds) as AlertRule['name'][]
  return names.flatMap((name): AlertRule[] => {
    const { threshold: thresholdOf, measure, ...kind } = kinds[name]
    const threshold = thresholdOf(alerts)
    return threshold === undefined ? [] : [{ ...kind, name, threshold, measure: measure(inbox, now) }]
  })
}

async function fromLog(
  inbox: WholeInbox,
  value: (stats: { dead: number }) => number,
): Promise<[string, number][] | null> {
  const stats = await statsOf(inbox)
  return stats?.map((source) => [source.source, value(source)]) ?? null
}

async function fromReports(
  inbox: WholeInbox,
  value: (summary: ReconcileSummary) => number,
): Promise<[string, number][] | null> {
  const reconciled = await reconciledOf(inbox)
  return reconciled?.map((summary) => [summary.source, value(summary)]) ?? null
}

function lastMinute(inbox: WholeInbox, startedAt: number, value: (own: Readonly<SourceCounters>) => number) {
  const read = () => new Map([...inbox.counters.bySource].map(([source, own]) => [source, value(own)]))
  const samples: { at: number; counts: Map<string, number> }[] = [{ at: startedAt, counts: read() }]
  return async (now: number): Promise<Measured | null> => {
    const counts = read()
    samples.push({ at: now, counts })
    // Keeps one sample that is at least a minute old, to measure a whole minute.
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
