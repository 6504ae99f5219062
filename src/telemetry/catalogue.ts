/** All metrics and the source of their values. `docs/telemetry.md` has the same rows; a test compares the two. */
import { attemptEnds, type Counters, type Histogram, type SourceCounters } from '../counters.js'
import type { DestinationState } from '../forward/destinations.js'
import type { EventRecord, SourceStats } from '../model.js'
import type { ReconcileSummary } from '../reconcile/summary.js'
import { alarmKinds, type SourceHealth } from '../silence/alarm.js'

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
}

export interface Facts {
  readonly counters: Counters
  readonly seen: readonly Named<SourceCounters>[]
  /** Configured sources only: a log may hold other sources, whose names came from elsewhere. */
  readonly configured: readonly Named<SourceCounters>[]
  readonly stats: readonly SourceStats[]
  /** Null when the store did not answer; undefined when all events are finished. */
  readonly oldest: Pick<EventRecord, 'receivedAt'> | null | undefined
  readonly storeUp: boolean
  readonly destinations: readonly DestinationState[]
  readonly reconciled: readonly ReconcileSummary[]
  /** Null when nothing can be said. */
  readonly health: readonly SourceHealth[] | null
  readonly now: number
}

type Named<T> = readonly [source: string, own: Readonly<T>]
export type Labels = Readonly<Record<string, string>>
export type Sample = readonly [labels: Labels, value: number | Histogram]

export interface MeasuredMetric extends Metric {
  /** A metric without samples is left out. */
  samples(facts: Facts): readonly Sample[]
}

const statStates = ['pending', 'processing', 'retrying', 'succeeded', 'ignored', 'dead'] as const
const sendOutcomes = ['sent', 'failed', 'postponed'] as const
const retained = ['payloads', 'events', 'attempts', 'audits'] as const

export const measured: Readonly<Record<string, MeasuredMetric>> = {
  received: counter('received_total', 'Deliveries that arrived, by source.', seen('received')),
  recorded: counter('events_recorded_total', 'Events that were new, by source.', seen('recorded')),
  duplicates: counter(
    'events_duplicate_total',
    'Events that were known already, by source.',
    seen('duplicates'),
  ),
  conflicts: counter(
    'events_conflict_total',
    'Duplicates whose bytes differ from the first, by source.',
    seen('conflicts'),
  ),
  replayed: counter(
    'events_replayed_total',
    'Events with known signed content under a new id that were put on the review list or rejected, by source.',
    seen('replayed'),
  ),
  flagged: counter(
    'events_flagged_total',
    'Events that are handled and flagged because their signed content is known under another id, by source.',
    seen('flagged'),
  ),
  spooled: counter(
    'spooled_total',
    'Deliveries that were spooled because the store was unavailable, by source.',
    seen('spooled'),
  ),
  handshakes: counter(
    'handshakes_total',
    'Handshakes of senders that were answered, by source.',
    seen('handshakes'),
  ),
  referencesCut: counter(
    'references_cut_total',
    'Events with more references than the log keeps, by source.',
    seen('referencesCut'),
  ),
  rejected: counter('rejected_total', 'Deliveries that were rejected, by source and reason.', ({ seen }) =>
    seen.flatMap(([source, { rejected }]) =>
      Object.entries(rejected).map(([reason, count]): Sample => [{ source, reason }, count]),
    ),
  ),
  ack: histogram(
    'ack_seconds',
    'From receiving a delivery to its answer below 400, by source.',
    seen('ackSeconds'),
  ),
  commit: histogram(
    'commit_seconds',
    'One commit of intake.',
    one(({ counters }) => counters.commitSeconds),
  ),
  commitSize: histogram(
    'commit_deliveries',
    'Deliveries in one commit of intake.',
    one(({ counters }) => counters.commitSizes),
  ),
  attempts: counter(
    'attempts_total',
    'Attempts that ended in this process, by source and outcome.',
    ({ configured }) =>
      configured.flatMap(([source, { attempts }]) =>
        attemptEnds.map((outcome): Sample => [{ source, outcome }, attempts[outcome]]),
      ),
  ),
  handler: histogram(
    'handler_seconds',
    'One attempt without the writing of its outcome, by source.',
    configured('handlerSeconds'),
  ),
  deadLetters: counter(
    'dead_letters_total',
    'Events that became dead letters in this process, by source.',
    configured('deadLetters'),
  ),
  leasesLost: counter(
    'leases_lost_total',
    'Leases that were lost before the outcome was written, by source.',
    configured('leasesLost'),
  ),
  storeErrors: counter(
    'store_errors_total',
    'Errors of the store in intake and processing, by code.',
    ({ counters }) => Object.entries(counters.storeErrors).map(([code, count]): Sample => [{ code }, count]),
  ),
  storeUp: gauge(
    'store_up',
    'Whether the store answered when this page was made: 1 or 0.',
    one(({ storeUp }) => Number(storeUp)),
  ),
  events: gauge(
    'events',
    'Events in the log, by source and state (dead: a dead letter; retrying: failed with a next attempt).',
    ({ stats }) =>
      stats.flatMap((own) => statStates.map((state): Sample => [{ source: own.source, state }, own[state]])),
  ),
  backlog: gauge('backlog', 'Unfinished events (pending, processing, retrying), by source.', ({ stats }) =>
    stats.map(({ source, pending, processing, retrying }) => [{ source }, pending + processing + retrying]),
  ),
  oldestUnfinished: gauge(
    'oldest_unfinished_seconds',
    'Age of the oldest unfinished event of the log since it was received, whenever it is due; 0 when all are finished.',
    ({ oldest, now }) =>
      oldest === null ? [] : [[{}, Math.max(0, now - (oldest?.receivedAt ?? now)) / 1_000]],
  ),
  reconcileMissing: gauge(
    'reconcile_missing',
    'Events that the sender lists and the log lacks, as the last comparison found them, by source.',
    ({ reconciled }) => reconciled.map(({ source, missing }) => [{ source }, missing]),
  ),
  reconcileExtra: gauge(
    'reconcile_extra',
    'Events of the log that the sender does not list, as the last comparison found them, by source.',
    ({ reconciled }) => reconciled.map(({ source, extra }) => [{ source }, extra]),
  ),
  reconcileAge: gauge(
    'reconcile_complete_age_seconds',
    'Age of the instant up to which the log has every event that the sender lists, by source.',
    ({ reconciled, now }) =>
      reconciled.map(({ source, completeUntil }) => [{ source }, Math.max(0, now - completeUntil) / 1_000]),
  ),
  alarms: gauge(
    'source_alarm',
    'Whether a source has an alarm, by source and kind (silent, rejected, stopped): 1 or 0.',
    ({ health }) =>
      (health ?? []).flatMap(({ source, alarms }) =>
        alarmKinds.map((kind): Sample => [{ source, kind }, Number(alarms.some((own) => own.kind === kind))]),
      ),
  ),
  spool: gauge(
    'spool_deliveries',
    'Deliveries in the spool, because the store is unavailable.',
    one(({ counters: { spool } }) => spool?.().depth),
  ),
  spoolSetAside: gauge(
    'spool_set_aside_deliveries',
    'Deliveries in the spool that could not be recorded, each for itself, and are retried.',
    one(({ counters: { spool } }) => spool?.().setAside),
  ),
  retentionRuns: counter(
    'retention_runs_total',
    'Daily runs of retention by this process, by outcome (done, failed).',
    ({ counters: { retention } }) => [
      [{ outcome: 'done' }, retention.runs],
      [{ outcome: 'failed' }, retention.failures],
    ],
  ),
  retentionRemoved: counter(
    'retention_removed_total',
    'What retention removed in this process, by kind; payloads of dropped partitions left out.',
    ({ counters: { retention } }) => retained.map((kind) => [{ kind }, retention[kind]]),
  ),
  partitionsAhead: gauge(
    'partitions_ahead',
    'Payload partitions ready ahead of now, as the last run of retention saw it.',
    one(({ counters }) => counters.retention.partitionsAhead),
  ),
  partitionAlarms: counter(
    'partition_alarms_total',
    'Runs of retention that found fewer than two partitions ahead.',
    one(({ counters }) => counters.retention.alarms),
  ),
  seenHits: counter(
    'seen_hits_total',
    'Duplicates that were answered without asking the store.',
    one(({ counters }) => counters.seen?.hits),
  ),
  seenMisses: counter(
    'seen_misses_total',
    'Deliveries that `seen` could not answer, so that the store was asked.',
    one(({ counters }) => counters.seen?.misses),
  ),
  seenErrors: counter(
    'seen_errors_total',
    'Failures of `seen`; after each the store was asked.',
    one(({ counters }) => counters.seen?.errors),
  ),
  destinationPaused: gauge(
    'destination_paused',
    'Whether a destination is paused in this process: 1 or 0.',
    destination((state) => Number(state.paused)),
  ),
  destinationActive: gauge(
    'destination_active',
    'Requests to a destination under way now.',
    destination((state) => state.active),
  ),
  destinationFailures: gauge(
    'destination_failures_in_a_row',
    'Failures of a destination since its last success.',
    destination((state) => state.failuresInARow),
  ),
  destinationSends: counter(
    'destination_sends_total',
    'Requests to a destination, by outcome (sent, failed, postponed).',
    ({ destinations }) =>
      destinations.flatMap((state) =>
        sendOutcomes.map((outcome): Sample => [{ destination: state.name, outcome }, state[outcome]]),
      ),
  ),
}

export const metrics: Readonly<Record<string, Metric>> = measured

type Samples = MeasuredMetric['samples']

function counter(name: string, help: string, samples: Samples): MeasuredMetric {
  return { name: `hookonce_${name}`, type: 'counter', help, samples }
}
function gauge(name: string, help: string, samples: Samples): MeasuredMetric {
  return { name: `hookonce_${name}`, type: 'gauge', help, samples }
}
function histogram(name: string, help: string, samples: Samples): MeasuredMetric {
  return { name: `hookonce_${name}`, type: 'histogram', help, samples }
}

/** Counters with one value for each source. */
type SourceValue = {
  [K in keyof SourceCounters]: SourceCounters[K] extends number | Histogram ? K : never
}[keyof SourceCounters]

function seen(name: SourceValue): Samples {
  return (facts) => facts.seen.map(([source, own]) => [{ source }, own[name]])
}
function configured(name: SourceValue): Samples {
  return (facts) => facts.configured.map(([source, own]) => [{ source }, own[name]])
}
function destination(value: (state: DestinationState) => number): Samples {
  return ({ destinations }) => destinations.map((state) => [{ destination: state.name }, value(state)])
}

/** Null for a feature that is not used. */
function one(value: (facts: Facts) => number | Histogram | null | undefined): Samples {
  return (facts) => {
    const found = value(facts) ?? null
    return found === null ? [] : [[{}, found]]
  }
}
