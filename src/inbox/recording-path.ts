/**
 * The recording path of one delivery, from intake to the log:
 *
 *   cache         answers a delivery whose events are all known; it only reads the id of the log, every 20 ms
 *   trace         measures the rest as a span
 *   group commit  joins deliveries that arrive together into one batch
 *   seal          encrypts payloads, so that no file holds them in clear
 *   spool         stores the batch in a local file while the store is unavailable or slow, and behind deliveries of its
 *                 source that are there already
 *   claim         leases the events that handlers of this process can begin at once, in the same commit
 *   store         commits the batch
 *
 * `cache`, `seal` and `spool` are there when they are configured.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.js'
import type { Counters } from '../counters.js'
import { msOf } from '../duration.js'
import { refuseUnsealed, sealing } from '../encryption/encrypted.js'
import type { KeyRing } from '../encryption/key-ring.js'
import { type GroupCommitOptions, groupCommit } from '../intake/group-commit.js'
import type { IntakeObserver } from '../intake/observer.js'
import type { Logger } from '../log.js'
import { onceKey } from '../once.js'
import type { BatchRecorder, LogRecorder, Recorder } from '../recorder.js'
import { SeenCache } from '../seen/cache.js'
import type { Seen } from '../seen/seen.js'
import { QUEUE_WAIT_MS } from '../spool/gate.js'
import { DEFAULT_AFTER, type OpenSpool, openSpool, type SpoolOptions } from '../spool/spool.js'
import { need } from '../store.js'
import type { LazyStore } from './lazy-store.js'
import type { InboxOptions } from './options.js'

const LOG_ID_KEY = 'hookonce:log-id'

export interface RecordingDeps {
  readonly options: Pick<InboxOptions, 'spool'>
  /** Time limit from group commit on. The cache comes before it, and may wait a second for the id of the log. */
  readonly recordMs: number
  readonly cache: SeenCache | null
  readonly ring: KeyRing | undefined
  readonly store: LazyStore
  readonly clock: Clock
  readonly log: Logger
  readonly counters: Counters
  readonly observer: IntakeObserver
  claiming(next: LogRecorder): LogRecorder
  readonly wakeWorkers: () => void
}

export interface RecordingPath extends Recorder {
  readonly spool: OpenSpool | null
  idle(): Promise<void>
}

export function recordingPath(deps: RecordingDeps): RecordingPath {
  const { options, recordMs, cache, ring, store, counters } = deps
  const claimed = deps.claiming(store.recorder)
  const spool = options.spool ? spoolInFront(claimed, options.spool, deps) : null
  const spoolOrStore: BatchRecorder = spool ?? claimed
  const commits = groupCommit(
    ring ? sealing(ring, spoolOrStore) : spoolOrStore,
    commitOptions(recordMs, counters),
  )
  counters.seen = cache?.counts ?? null
  counters.spool = spool?.counts ?? null

  const commit: Recorder['record'] = (delivery, _source, span) =>
    span ? span.record(() => commits.record(delivery)) : commits.record(delivery)
  return { record: cache ? unlessKnown(cache, commit) : commit, spool, idle: commits.idle }
}

function unlessKnown(cache: SeenCache, commit: Recorder['record']): Recorder['record'] {
  return async (delivery, source, span) => {
    const logId = await cache.logId()
    const known = logId && (await cache.ask(logId, source, delivery))
    if (known) return known
    const recording = await commit(delivery, source, span)
    if (logId && recording !== 'spooled') cache.add(logId, source, delivery, recording)
    return recording
  }
}

/** A random id in the log binds the cache of known events to the log, and to the database that holds it. */
export function seenCache({
  seen,
  clock,
  log,
  store,
}: Pick<RecordingDeps, 'clock' | 'log' | 'store'> & { readonly seen: Seen }): SeenCache {
  let id: string | null = null
  return new SeenCache({
    seen,
    clock,
    log,
    async readLogId() {
      const keys = need(await store.openForAccepted(), 'keys', 'the option seen')
      id ??= await onceKey(keys, LOG_ID_KEY, randomUUID)
      return keys.place ? `${id} ${await keys.place()}` : id
    },
    repeated: (repeats) => store.opened?.duplicates?.count(repeats),
  })
}

function spoolInFront(next: LogRecorder, options: SpoolOptions, deps: RecordingDeps): OpenSpool {
  const { recordMs, ring, store, clock, log, observer, wakeWorkers } = deps
  // A quarter of `recordMs` to wait for the drain and half of it for the commit leave the spool time to take over while
  // the sender still waits for its answer.
  const queueWaitMs = Math.min(QUEUE_WAIT_MS, recordMs / 4)
  const after = Math.min(msOf(options.after, DEFAULT_AFTER), Math.ceil(recordMs / 2))
  return openSpool(
    { ...options, after },
    {
      next,
      queueWaitMs,
      drainTo: ring ? checkSeals(ring, store.recorder) : store.recorder,
      clock,
      log,
      probe: async () => (await store.open()).ping(),
      drained(deliveries, verdicts) {
        for (const [i, { source, events }] of deliveries.entries())
          observer.countVerdicts(
            source,
            events.map(({ id }) => id),
            verdicts[i]!,
          )
        wakeWorkers()
      },
    },
  )
}

/**
 * The spool file may hold deliveries that are not sealed: from before encryption was configured, or written by somebody
 * else. With `encryption.required` they are refused, each on its own, and the spool keeps them aside; else they are
 * sealed now.
 */
function checkSeals(ring: KeyRing, next: LogRecorder): LogRecorder {
  const log = sealing(ring, next)
  return {
    async record(deliveries) {
      const refusals = deliveries.map((delivery) => refuseUnsealed(ring, delivery))
      const trusted = deliveries.filter((_, i) => !refusals[i])
      const verdicts = trusted.length === 0 ? [] : await log.record(trusted)
      return refusals.map((refusal) => refusal ?? verdicts.shift()!)
    },
  }
}

function commitOptions(recordMs: number, counters: Counters): GroupCommitOptions {
  return {
    withinMs: recordMs,
    onCommit(deliveries, ms) {
      counters.commits++
      counters.committed += deliveries
      counters.commitSizes.observe(deliveries)
      counters.commitSeconds.observe(ms / 1_000)
    },
  }
}
