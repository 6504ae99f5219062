/** What can be done with an inbox. `createInbox` makes one. */

import type { Counters, HandlerCounters } from '../counters.js'
import type { Duration } from '../duration.js'
import type { Receipt } from '../intake/answer.js'
import type { BodyBudget } from '../intake/body-budget.js'
import type { EarlyRefusal, IntakeLimits } from '../intake/receive.js'
import type { Logger } from '../log.js'
import type {
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  NewDelivery,
  OrderResult,
  RecordVerdict,
  SourceStats,
  TailOptions,
  TailPage,
} from '../model.js'
import type { OnceKeyOptions } from '../once.js'
import type { BulkOptions, BulkResult, OrderOptions } from '../processing/commands.js'
import type { RetryPolicy } from '../processing/failure.js'
import type { BatchHandler, Handler, HandlerOptions, StandardSchema } from '../processing/handler.js'
import type { Redactor } from '../processing/redact.js'
import type { Registry } from '../processing/registry.js'
import type { Result } from '../processing/result.js'
import type { Delivery, Source } from '../provider.js'
import type { EraseAllOptions } from '../retention/erase.js'
import type { RetentionPolicy } from '../retention/policy.js'
import type { RetainOptions, RetainReport } from '../retention/retain.js'
import type { Spool } from '../spool/spool.js'
import type { Attempt, AuditFilter, AuditPage, EraseResult, Payload, Store } from '../store.js'
import type { EventTypeOf, PayloadOf, Sources } from './event-types.js'
import type { InboxHistory } from './history.js'

/** The output of the option `schema`, else the payload that the provider's package describes. */
type Handled<S, From, Type extends string> =
  S extends StandardSchema<infer Output> ? Output : PayloadOf<From, Type>

export interface Inbox<Tx = unknown, S extends Sources = Sources> extends AsyncDisposable {
  /** Takes one delivery through intake. Resolves to a receipt, also for a delivery that is rejected. */
  receive(source: string, delivery: Delivery): Promise<Receipt>
  /** Takes a web-standard request to `/webhooks/<source>` through intake. */
  fetch(request: Request): Promise<Response>
  /** For adapters: counts and logs a request that they refuse themselves. Returns the answer to the sender. */
  refused(source: string | null, refusal: EarlyRefusal): Receipt
  /**
   * Registers the handler for a type (`invoice.paid`), a glob (`invoice.*`) or all types (`*`) of a source. The most
   * specific handler is called. Registering two handlers for the same pattern throws.
   */
  on<
    Name extends keyof S & string,
    const Type extends EventTypeOf<S[Name]>,
    Schema extends StandardSchema | undefined = undefined,
  >(
    source: Name,
    type: Type,
    handler: Handler<Tx, Handled<Schema, S[Name], Type>>,
    options?: Omit<HandlerOptions, 'schema' | 'maxBatch'> & { readonly schema?: Schema },
  ): Inbox<Tx, S>
  /** Registers a handler for many events in one transaction. After a failure they run one by one. */
  onBatch<
    Name extends keyof S & string,
    const Type extends EventTypeOf<S[Name]>,
    Schema extends StandardSchema | undefined = undefined,
  >(
    source: Name,
    type: Type,
    handler: BatchHandler<Tx, Handled<Schema, S[Name], Type>>,
    options?: Omit<HandlerOptions, 'schema' | 'order' | 'share'> & { readonly schema?: Schema },
  ): Inbox<Tx, S>
  /** Opens the store, brings its schema up to date, and starts running handlers. */
  start(): Promise<void>
  /**
   * Records accepted deliveries and finishes running attempts within `deadline` (default `'10s'`), releases the other
   * claimed events, and closes the store (`ownsStore: false` leaves it open).
   */
  stop(options?: { deadline?: Duration }): Promise<void>
  /** Runs due events until none is left. Resolves to the number of attempts. For tests. */
  drain(): Promise<number>
  /**
   * Runs this event now, for callers with a queue of their own. Null when there is no such event, when it has finished,
   * or when another worker has it. `postponed` when it was not run: its source is paused, has no handler in this process,
   * or another process handles its type.
   */
  process(source: string, eventId: string): Promise<Result | null>
  /** Starts no new attempts of a source, or of one handler of it, in this process. */
  pause(source: string, type?: string): void
  resume(source: string, type?: string): void
  /** The types of a source that have a handler. */
  handled(source: string): readonly string[]
  /** Runs `fn` once for this key, across processes and restarts, and stores its result. */
  once<T>(key: string, fn: () => T | Promise<T>, options?: OnceKeyOptions): Promise<T>
  readonly events: {
    get(key: EventKey): Promise<EventRecord | null>
    list(filter?: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
    payload(key: EventKey): Promise<Payload | null>
    attempts(key: EventKey): Promise<Attempt[]>
    stats(): Promise<SourceStats[]>
    /** Events in the order they were recorded, from a position on: for readers that follow the log. */
    tail(options: TailOptions): Promise<TailPage>
    /** What operators did to the log, newest first. */
    audits(filter?: AuditFilter, page?: { limit?: number; cursor?: string | null }): Promise<AuditPage>
  }
  readonly retry: OrderVerb
  readonly replay: OrderVerb
  readonly ignore: OrderVerb
  /** Runs retention now. With `dryRun` it only counts what it would remove. */
  retain(options?: RetainOptions): Promise<RetainReport>
  /** Deletes the payloads of all deliveries about a reference. The events stay, so that retries are duplicates. */
  erase(options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>>
  readonly sources: ReadonlyMap<string, Source>
  readonly limits: IntakeLimits
  /** For adapters: the limit on the memory of all request bodies. */
  readonly bodies: BodyBudget
  readonly counters: Counters
  /** Null when no spool is configured. */
  readonly spool: Spool | null
  /** For attempts made by other processes (the worker API): the retry policy, and the redaction of errors. */
  readonly attempts: {
    readonly retryOf: Registry<Tx>['retryOf']
    readonly redact: Redactor
    /** Notes in the log that a worker takes events of these sources, so that no process ignores them as unhandled. */
    workerAsked(sources: readonly string[]): Promise<void>
  }
  /** The handlers of this process, with what they did since it started. */
  handlers(): readonly HandlerState[]
  /** Counts by time, of all processes of the log. A process writes its own while it is started. */
  readonly history: InboxHistory
  /** How this inbox is set up, for the people who operate it. */
  readonly setup: InboxSetup
  /** Records an event that a person made of another one. Its bytes were not verified. */
  recordCopy(delivery: NewDelivery): Promise<RecordVerdict>
  readonly log: Logger
  /** The store, opened on first use. */
  store(): Promise<Store<Tx>>
}

export interface HandlerState {
  readonly source: string
  readonly pattern: string
  /** One event for each call, or many (`onBatch`). */
  readonly batch: boolean
  readonly paused: boolean
  /** The whole source is paused. */
  readonly sourcePaused: boolean
  /** Attempts that run now. */
  readonly active: number
  readonly options: Pick<HandlerOptions, 'concurrency' | 'timeout' | 'order' | 'share' | 'maxBatch'>
  readonly retry: RetryPolicy
  readonly counters: HandlerCounters
}

export interface InboxSetup {
  /** Milliseconds. */
  readonly startedAt: number
  readonly version: string | null
  /** The name of the worker; null when this process runs no handlers. */
  readonly worker: string | null
  /** Attempts at the same time. */
  readonly concurrency: number
  /** Null when retention is off. */
  readonly retention: RetentionPolicy | null
  readonly archive: boolean
  readonly encryption: boolean
  /** `lru`, `redis`, or null. */
  readonly seen: string | null
}

/** An order on one event, on several, or on all events that match a filter. */
export interface OrderVerb {
  (key: EventKey, options?: OrderOptions): Promise<OrderResult>
  (events: readonly EventKey[] | EventFilter, options?: BulkOptions): Promise<BulkResult>
}
