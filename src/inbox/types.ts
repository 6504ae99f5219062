/** The inbox as its users see it. `createInbox` makes one. */

import type { Duration } from '../duration.js'
import type { Receipt } from '../intake/answer.js'
import type {
  ActionResult,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  SourceStats,
  TailOptions,
  TailPage,
} from '../model.js'
import type { OnceKeyOptions } from '../once.js'
import type { ActionOptions, BulkOptions, BulkResult } from '../processing/actions.js'
import type { BatchHandler, Handler, HandlerOptions, StandardSchema } from '../processing/handler.js'
import type { Result } from '../processing/result.js'
import type { Waiting } from '../processing/waiting.js'
import type { Delivery } from '../provider.js'
import type { ReconcileOptions } from '../reconcile/options.js'
import type { ReconcileReport } from '../reconcile/report.js'
import type { EraseAllOptions } from '../retention/erase.js'
import type { RetainOptions, RetainReport } from '../retention/retain.js'
import type { Spool } from '../spool/spool.js'
import type { Attempt, AuditFilter, AuditPage, EraseResult, Pause, Payload } from '../store.js'
import type { EventTypeOf, PayloadOf, Sources } from './event-types.js'
import type { PauseOptions } from './pauses.js'

/** Payload of a handler: the output of `schema`, else as the package of the provider describes it. */
type Handled<S, From, Type extends string> =
  S extends StandardSchema<infer Output> ? Output : PayloadOf<From, Type>

export interface Inbox<Tx = unknown, S extends Sources = Sources> extends AsyncDisposable {
  /** Takes one delivery through intake. Resolves to a receipt, even for a delivery that is rejected. */
  receive(source: string, delivery: Delivery): Promise<Receipt>
  /** Takes a web-standard request to `/webhooks/<source>` through intake. */
  fetch(request: Request): Promise<Response>
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
  /** Registers a handler for many events in one transaction. After a failure each runs alone. */
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
   * claimed events, and closes the store (`ownsStore: false` leaves it open). Takes a few seconds longer when a commit
   * hangs or handlers do not stop.
   */
  stop(options?: { deadline?: Duration }): Promise<void>
  /** Runs due events until none is left. Resolves to the number of attempts. For tests. */
  drain(): Promise<number>
  /**
   * Runs this event now, for callers that have their own queue. Null when there is no such event, when it has finished,
   * or when another worker has it. `postponed` when it was not run: its source is paused, has no handler in this process,
   * or another process handles its type.
   */
  process(source: string, eventId: string): Promise<Result | null>
  /**
   * Starts no new attempts of a source or a consumer (`stripe/mail`), or of its events of a type (`invoice.*`), in any process
   * of the log, until `resume`. Events are still recorded, and wait. False: it was paused already.
   */
  pause(source: string, type?: string, by?: PauseOptions): Promise<boolean>
  /** False: there was no such pause. */
  resume(source: string, type?: string, by?: PauseOptions): Promise<boolean>
  /** What is paused, by whom and since when. */
  pauses(): Promise<Pause[]>
  /** Runs `fn` once for this key, across processes and restarts, and stores its result. */
  once<T>(key: string, fn: () => T | Promise<T>, options?: OnceKeyOptions): Promise<T>
  readonly events: {
    get(key: EventKey): Promise<EventRecord | null>
    list(filter?: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
    /** Why each of these events is not finished; null when it is. At most 500 of one `list`. */
    waiting(events: readonly EventRecord[]): Promise<readonly (Waiting | null)[]>
    payload(key: EventKey): Promise<Payload | null>
    attempts(key: EventKey): Promise<Attempt[]>
    stats(): Promise<SourceStats[]>
    /** Events in the order they were recorded, from a position on: for readers that follow the log. */
    tail(options: TailOptions): Promise<TailPage>
    /** Actions of operators, newest first. */
    audits(filter?: AuditFilter, page?: { limit?: number; cursor?: string | null }): Promise<AuditPage>
  }
  readonly retry: ActionMethod
  readonly replay: ActionMethod
  readonly ignore: ActionMethod
  /** Runs retention now. With `dryRun` it only counts what it would remove. */
  retain(options?: RetainOptions): Promise<RetainReport>
  /**
   * Compares the log with the sender's own list of events, and records what is missing. The source needs an `apiKey`. Rejects when
   * the list could not be read to its end; what was recorded until then stays.
   */
  reconcile(source: keyof S & string, options?: ReconcileOptions): Promise<ReconcileReport>
  /** Reports of `reconcile`, the latest first. */
  reports(filter?: { readonly source?: string; readonly limit?: number }): Promise<ReconcileReport[]>
  /** Null when no spool is configured. */
  readonly spool: Spool | null
  /** Deletes the payloads of all deliveries about a reference. The events stay, so retries are duplicates. */
  erase(options: EraseAllOptions): Promise<Omit<EraseResult, 'more'>>
}

export interface ActionMethod {
  (key: EventKey, options?: ActionOptions): Promise<ActionResult>
  (events: readonly EventKey[] | EventFilter, options?: BulkOptions): Promise<BulkResult>
}
