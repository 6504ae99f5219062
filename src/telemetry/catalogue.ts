/** All metrics. `docs/telemetry.md` has the same rows; a test compares the two. */

export interface Metric {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
}

export const metrics = {
  received: counter('received_total', 'Deliveries that arrived, by source.'),
  recorded: counter('events_recorded_total', 'Events that were new, by source.'),
  duplicates: counter('events_duplicate_total', 'Events that were known already, by source.'),
  conflicts: counter('events_conflict_total', 'Duplicates whose bytes differ from the first, by source.'),
  replayed: counter(
    'events_replayed_total',
    'Events with known signed content under a new id that were put on the review list or rejected, by source.',
  ),
  flagged: counter(
    'events_flagged_total',
    'Events that are handled and flagged because their signed content is known under another id, by source.',
  ),
  spooled: counter(
    'spooled_total',
    'Deliveries that were spooled because the store was unavailable, by source.',
  ),
  handshakes: counter('handshakes_total', 'Handshakes of senders that were answered, by source.'),
  rejected: counter('rejected_total', 'Deliveries that were rejected, by source and reason.'),
  ack: histogram('ack_seconds', 'From receiving a delivery to its answer below 400, by source.'),
  commit: histogram('commit_seconds', 'One commit of intake.'),
  commitSize: histogram('commit_deliveries', 'Deliveries in one commit of intake.'),
  attempts: counter('attempts_total', 'Attempts that ended in this process, by source and outcome.'),
  handler: histogram('handler_seconds', 'One attempt without the writing of its outcome, by source.'),
  deadLetters: counter('dead_letters_total', 'Events that became dead letters in this process, by source.'),
  leasesLost: counter(
    'leases_lost_total',
    'Leases that were lost before the outcome was written, by source.',
  ),
  storeErrors: counter('store_errors_total', 'Errors of the store in intake and processing, by code.'),
  storeUp: gauge('store_up', 'Whether the store answered when this page was made: 1 or 0.'),
  events: gauge(
    'events',
    'Events in the log, by source and state (dead: a dead letter; retrying: failed with a next attempt).',
  ),
  backlog: gauge('backlog', 'Unfinished events (pending, processing, retrying), by source.'),
  oldestDue: gauge(
    'oldest_due_seconds',
    'How long the oldest event that waits for a worker has been due, by source; 0 when none waits.',
  ),
  spool: gauge('spool_deliveries', 'Deliveries in the spool, because the store is unavailable.'),
  spoolSetAside: gauge(
    'spool_set_aside_deliveries',
    'Deliveries in the spool that could not be recorded, each for itself, and are retried.',
  ),
  retentionRuns: counter(
    'retention_runs_total',
    'Daily runs of retention by this process, by outcome (done, failed).',
  ),
  retentionRemoved: counter(
    'retention_removed_total',
    'What retention removed in this process, by kind; payloads of dropped partitions left out.',
  ),
  partitionsAhead: gauge(
    'partitions_ahead',
    'Payload partitions ready ahead of now, as the last run of retention saw it.',
  ),
  partitionAlarms: counter(
    'partition_alarms_total',
    'Runs of retention that found fewer than two partitions ahead.',
  ),
  seenHits: counter('seen_hits_total', 'Duplicates that were answered without asking the store.'),
  seenMisses: counter(
    'seen_misses_total',
    'Deliveries that `seen` could not answer, so that the store was asked.',
  ),
  seenErrors: counter('seen_errors_total', 'Failures of `seen`; after each the store was asked.'),
  destinationPaused: gauge('destination_paused', 'Whether a destination is paused in this process: 1 or 0.'),
  destinationActive: gauge('destination_active', 'Requests to a destination under way now.'),
  destinationFailures: gauge(
    'destination_failures_in_a_row',
    'Failures of a destination since its last success.',
  ),
  destinationSends: counter(
    'destination_sends_total',
    'Requests to a destination, by outcome (sent, failed, postponed).',
  ),
} as const satisfies Record<string, Metric>

function counter(name: string, help: string): Metric {
  return { name: `hookonce_${name}`, type: 'counter', help }
}
function gauge(name: string, help: string): Metric {
  return { name: `hookonce_${name}`, type: 'gauge', help }
}
function histogram(name: string, help: string): Metric {
  return { name: `hookonce_${name}`, type: 'histogram', help }
}
