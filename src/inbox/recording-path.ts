/**
 * The way from intake to the log, put together: `seen` answers what is known, then group commit, then the seal where
 * payloads are encrypted, then the spool where there is one, then the store.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.js'
import type { Counters } from '../counters.js'
import { refuseUnsealed } from '../encryption/encrypted.js'
import type { KeyRing } from '../encryption/key-ring.js'
import { seal } from '../encryption/seal.js'
import { groupCommit } from '../intake/group-commit.js'
import { countVerdicts } from '../intake/intake.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import { onceKey } from '../processing/once.js'
import { createLogId } from '../seen/log-id.js'
import { createRecall } from '../seen/recall.js'
import { DEFAULT_AFTER_MS, openSpool, type SpoolOptions } from '../spool/spool.js'
import type { Store } from '../store.js'
import type { InboxOptions } from './options.js'

/** Under this key `once` keeps the identity of the log. */
const LOG_ID_KEY = 'hookonce:log-id'

export interface RecordingDeps {
  readonly options: Pick<InboxOptions, 'spool' | 'seen' | 'commits'>
  /** How long a delivery may wait for its commit, or for the spool. */
  readonly recordMs: number
  readonly ring: KeyRing | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly counters: Counters
  /** The store for what was accepted already, also while the inbox stops. */
  held(): Promise<Store>
  open(): Promise<Store>
  opened(): Store | undefined
  /** Something new is in the log. */
  wake(): void
}

export function recordingPath({
  options,
  recordMs,
  ring,
  clock,
  log,
  counters,
  held,
  open,
  opened,
  wake,
}: RecordingDeps) {
  const toStore = { record: async (deliveries: readonly NewDelivery[]) => (await held()).record(deliveries) }
  /** A spooled delivery that must not be believed is refused alone; the spool keeps it aside. */
  async function fromSpool(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]> {
    const refused = deliveries.map((delivery) => ring && refuseUnsealed(ring, delivery))
    const believed = deliveries.filter((_, i) => !refused[i])
    const verdicts = believed.length === 0 ? [] : await toStore.record(believed)
    return refused.map((refusal) => refusal ?? verdicts.shift()!)
  }
  const spool = options.spool
    ? openSpool(spoolInTime(options.spool, recordMs), {
        record: fromSpool,
        clock,
        log,
        probe: async () => (await open()).ping(),
        drained(deliveries, verdicts) {
          for (const [i, { source, events }] of deliveries.entries()) {
            const ids = events.map((event) => event.eventId)
            countVerdicts({ counters, log }, source, ids, verdicts[i]!)
          }
          wake()
        },
      })
    : null
  const logId = createLogId(async () => onceKey(await held(), LOG_ID_KEY, randomUUID))
  const recall = options.seen
    ? createRecall({
        seen: options.seen,
        clock,
        log,
        logId: logId.current,
        repeated: (repeats) => opened()?.repeated(repeats),
      })
    : null
  counters.seen = recall?.counts ?? null
  counters.spoolDepth = spool?.depth ?? null
  // Sealed before it can come to rest anywhere, the spool included.
  const sink = spool ?? toStore
  const sealed = ring && {
    record: (deliveries: readonly NewDelivery[]) => sink.record(deliveries.map((one) => seal(ring, one))),
  }
  const commits = groupCommit(sealed ?? sink, {
    ...options.commits,
    withinMs: recordMs,
    onCommit(deliveries, ms) {
      counters.commits++
      counters.committed += deliveries
      counters.commitSizes.observe(deliveries)
      counters.commitSeconds.observe(ms / 1_000)
    },
  })
  return { spool, recall, logId, commits }
}

/** The spool takes over while the sender still waits: one commit may run out its time before another begins. */
function spoolInTime(spool: SpoolOptions, recordMs: number): SpoolOptions {
  return { ...spool, afterMs: Math.min(spool.afterMs ?? DEFAULT_AFTER_MS, Math.ceil(recordMs / 2)) }
}
