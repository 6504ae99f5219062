/**
 * The whole inbox is one object. `Inbox` is the part that users may rely on; adapters, the server and the tools of this
 * package need the rest.
 */
import type { AttemptCounters, Counters } from '../counters.js'
import { invalid } from '../errors.js'
import type { Receipt } from '../intake/answer.js'
import type { BodyBudget } from '../intake/body-budget.js'
import type { EarlyRefusal, IntakeLimits } from '../intake/receive.js'
import type { Logger } from '../log.js'
import type { NewDelivery, RecordVerdict } from '../model.js'
import { unknownSource } from '../nearest.js'
import { packageVersion } from '../package-version.js'
import type { RetryPolicy } from '../processing/failure.js'
import type { HandlerOptions } from '../processing/handler.js'
import { DEFAULT_CONCURRENCY } from '../processing/options.js'
import type { Paused } from '../processing/paused.js'
import type { Redactor } from '../processing/redact.js'
import type { Registry } from '../processing/registry.js'
import type { Source } from '../provider.js'
import type { RetentionPolicy } from '../retention/policy.js'
import type { SourceHealth } from '../silence/alarm.js'
import type { Pause, Store } from '../store.js'
import type { InboxBase } from './base.js'
import type { InboxIntake } from './entrance.js'
import type { InboxHistory } from './history.js'
import type { InboxProcessing } from './processing.js'
import type { Inbox } from './types.js'
import type { InboxUpkeep } from './upkeep.js'

export interface InboxInternals<Tx = unknown> {
  /** Counts and logs a request that an adapter refuses. Returns the answer to the sender. */
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  /** Counts and logs a request whose body the application has read. Returns the answer to the sender. */
  bodyConsumed(source: string, path: string): Receipt
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  /** Limits the memory of all request bodies. */
  readonly bodies: BodyBudget
  readonly counters: Counters
  /** Attempts of other processes (the worker API) use these. */
  readonly attempts: {
    readonly retryOf: Registry<Tx>['retryOf']
    readonly redact: Redactor
    /** A worker takes events of these sources: no process ignores them as unhandled. */
    workerAsked(sources: readonly string[]): Promise<void>
  }
  handled(source: string): readonly string[]
  /** What is paused in the log, as this process knows it. */
  readonly paused: Paused
  /** `open` returns the destinations, as `stripe/crm`, that are not tried now. The result tells other processes of a change. */
  reportCircuits(open: () => readonly string[]): () => void
  handlers(): readonly HandlerState[]
  /** Counts of all processes of the log, by time. A process writes its own while it is started. */
  readonly history: InboxHistory
  /** What is known of the rhythm of each source, and its alarms. At most a minute old; null when nothing can be said. */
  health(): Promise<readonly SourceHealth[] | null>
  readonly setup: InboxSetup
  /** Records an event that a person made of another one. Its bytes were not verified. */
  recordCopy(delivery: NewDelivery): Promise<RecordVerdict>
  readonly log: Logger
  /** `start` was called. */
  readonly isStarted: () => boolean
  store(): Promise<Store<Tx>>
}

export interface WholeInbox<Tx = unknown> extends Inbox<Tx>, InboxInternals<Tx> {}

export function wholeInbox<Tx>(inbox: Inbox<Tx>): WholeInbox<Tx> {
  if (!('bodies' in inbox)) throw invalid('The inbox', 'must be made by createInbox()')
  return inbox as WholeInbox<Tx>
}

/** For an adapter. Throws when its option `source` names no source: every delivery would be answered 404. */
export function inboxOf<Tx>(inbox: Inbox<Tx>, { source }: { readonly source?: string }): WholeInbox<Tx> {
  const whole = wholeInbox(inbox)
  if (source !== undefined && !whole.sources.has(source)) throw unknownSource(source, whole.sources.keys())
  return whole
}

export interface HandlerState {
  readonly source: string
  readonly pattern: string
  /** One event for each call, or many (`onBatch`). */
  readonly batch: boolean
  /** Of all events that it takes. */
  readonly pause: Pause | null
  readonly active: number
  readonly options: Pick<HandlerOptions, 'limit' | 'timeout' | 'order' | 'share' | 'maxBatch'>
  readonly retry: RetryPolicy
  readonly counters: AttemptCounters
}

export interface InboxSetup {
  readonly startedAt: number
  readonly version: string | null
  readonly worker: string | null
  readonly concurrency: number
  /** Null when retention is off. */
  readonly retention: RetentionPolicy | null
  readonly archive: boolean
  readonly encryption: boolean
  /** `lru`, `redis`, or null. */
  readonly seen: string | null
}

export function inboxInternals<Tx>(
  base: InboxBase<Tx>,
  { worker, wake }: InboxProcessing,
  { refused, bodyConsumed, bodies }: InboxIntake,
  { historian, watch, policy }: InboxUpkeep,
  isStarted: () => boolean,
): InboxInternals<Tx> {
  const { options, registry, store, redact } = base
  const [processing, retention] = [options.processing || undefined, options.retention || undefined]
  return {
    refused,
    bodyConsumed,
    sources: base.sources,
    limits: base.limits,
    bodies,
    counters: base.counters,
    attempts: {
      retryOf: (source, type) => registry.retryOf(source, type),
      redact,
      workerAsked: historian.workerAsked,
    },
    paused: registry.paused,
    reportCircuits(open) {
      registry.circuits.push(open)
      return () => void historian.changed()
    },
    handled: (name) => registry.all.flatMap(({ source, pattern }) => (source === name ? [pattern] : [])),
    handlers: () =>
      registry.all.map(({ source, pattern, handleBatch, options, retry, active, counters }) => ({
        source,
        pattern,
        batch: handleBatch !== null,
        pause: registry.paused.ofHandler(source, pattern) ?? null,
        active,
        options,
        retry,
        counters,
      })),
    history: {
      id: historian.id,
      own: historian.own,
      read: historian.read,
      processes: historian.processes,
    },
    health: watch.health,
    setup: {
      startedAt: Date.now(),
      version: packageVersion(),
      worker,
      concurrency: processing?.concurrency ?? DEFAULT_CONCURRENCY,
      retention: options.retention === false ? null : policy,
      archive: retention?.archive !== undefined,
      encryption: base.ring !== undefined,
      seen: options.seen?.name ?? null,
    },
    async recordCopy(delivery) {
      const [verdicts] = await (await store.open()).record([delivery])
      wake()
      return verdicts![0]!
    },
    log: base.log,
    isStarted,
    store: store.open,
  }
}
