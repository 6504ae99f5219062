/**
 * The contract of a store: where the log lives. `stores/` holds the implementations; `storeContract` in
 * `hookonce/testing` is the suite each of them passes.
 *
 * Rules every store keeps:
 * - `record` resolves only after its rows are committed and flushed to disk (promise 1).
 * - uniqueness of (source, eventId) is a constraint of the database, never a look-up before an insert (promise 2).
 * - a lease is dead when its time is over or another claim was made; a dead lease changes nothing (I4).
 * - time is the store's own clock (I9).
 * - input is checked with `store-input.ts` before anything is written.
 */
import type {
  ArchiveMark,
  Attempt,
  AuditFilter,
  AuditPage,
  ClaimedEvent,
  ClaimOptions,
  EffectState,
  EffectStep,
  EraseOptions,
  EraseResult,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  ExportOptions,
  ExportPage,
  Inspection,
  KeyState,
  KeyStep,
  Lease,
  MaintainOptions,
  MaintainReport,
  NewAudit,
  NewDelivery,
  Order,
  OrderResult,
  Payload,
  PruneOptions,
  PruneResult,
  RecordVerdict,
  Repeat,
  Settlement,
  SourceStats,
  StoredDelivery,
  TailOptions,
  TailPage,
  Watermark,
} from './model.js'

export interface Store<Tx = unknown> {
  /** True when an open transaction makes other writes of this process wait: effects are then written inside it. */
  readonly singleWriter: boolean

  /** For logs and errors: `sqlite:events.db`, `postgres:hookonce`. Never a password. */
  readonly name: string

  /** Brings the schema up to date. Safe when several processes call it at once. */
  migrate(): Promise<MigrationReport>

  /** Records deliveries in one commit. Answers a verdict per event, in the order given. */
  record(deliveries: readonly NewDelivery[]): Promise<RecordVerdict[][]>
  /** Writes what is known about duplicates and conflicts and not yet written. Also done by itself, and on close. */
  flush(): Promise<void>

  /** Takes due events, oldest due first. Each gets a new token and its attempt is counted. */
  claim(options: ClaimOptions): Promise<ClaimedEvent[]>
  /** Gives live leases `leaseMs` from now. False = that lease is dead. */
  extend(leases: readonly Lease[], leaseMs: number): Promise<boolean[]>
  /** Writes outcomes. False = that lease is dead and nothing changed for it. */
  settle(settlements: readonly Settlement[]): Promise<boolean[]>
  /** Hands unstarted events back, due again after `delayMs`; their attempt does not count. False = that lease is dead. */
  release(leases: readonly Lease[], delayMs?: number): Promise<boolean[]>
  /**
   * Begins a transaction for a handler. The caller must commit or roll back. POOL_EXHAUSTED when other transactions
   * leave no room for it in time.
   */
  transaction(options?: TransactionOptions): Promise<StoreTransaction<Tx>>
  /** Starts or finishes a named side effect, durably, under a live lease. */
  effect(step: EffectStep): Promise<EffectState>
  /** One step of a resource-level idempotency key, durably. */
  key(step: KeyStep): Promise<KeyState>
  /** The value of a watermark; null when it has none. */
  watermark(source: string, key: string): Promise<number | null>
  /**
   * Calls `wake` when another process on this log has recorded something, if the store can tell. Never the only way
   * to find work: a poll always stays. Resolves to the function that ends it.
   */
  subscribe(wake: () => void): Promise<() => Promise<void>>

  /** Carries out an operator's order, audited. At most 1,000 events a call; a result per event, in order. */
  operate(order: Order): Promise<OrderResult[]>

  get(key: EventKey): Promise<EventRecord | null>
  /** Newest first. */
  list(filter: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
  /** Null when there is no such event or its payload has been removed. */
  payload(key: EventKey): Promise<Payload | null>
  /** Oldest first. */
  attempts(key: EventKey): Promise<Attempt[]>
  /**
   * Resolves when a delivery could be recorded now, else throws why not: the store cannot be reached, is read-only or
   * full, has no schema. Cheap while records succeed; after one that failed it writes something, until one succeeds.
   */
  ping(): Promise<void>
  /** A row per source, by name. Never scans the log. */
  stats(): Promise<SourceStats[]>

  /** Events in the order they entered the log, oldest first. At most `limits.listPage` a call. */
  tail(options: TailOptions): Promise<TailPage>
  /** Counts duplicates that were answered without asking the store; written a little later, as its own are. */
  repeated(repeats: readonly Repeat[]): void
  audit(entries: readonly NewAudit[]): Promise<void>
  audits(filter: AuditFilter, page?: { limit?: number; cursor?: string | null }): Promise<AuditPage>
  /** Needs no migrated schema. Never throws for what it finds, only when the store cannot be reached. */
  inspect(): Promise<Inspection>

  prune(options: PruneOptions): Promise<PruneResult>
  /** Makes room ahead and drops whole partitions, where the store has them. One at a time over all processes. */
  maintain(options: MaintainOptions): Promise<MaintainReport>
  /** Deliveries whose bytes are stored, in the order they entered the log, for an archive. */
  export(options: ExportOptions): Promise<ExportPage>
  /** Notes what an archive holds, for `archivedOnly`. The same mark again replaces the first. Kept with the events. */
  archived(marks: readonly ArchiveMark[]): Promise<void>
  /**
   * Puts bytes back that retention removed. False = no such event, its bytes are there, or they were erased. The same id
   * recorded anew since is another event: time of arrival and content hash must be those of the recorded one.
   */
  restore(deliveries: readonly StoredDelivery[]): Promise<boolean[]>
  /**
   * Audited, also when nothing was found. What is erased is never restored. A delivery with an event that is processing
   * is left for a later call.
   */
  erase(options: EraseOptions): Promise<EraseResult>
  /** Flushes and lets go. Later calls fail with STORE_CLOSED. */
  close(): Promise<void>
}

export interface TransactionOptions {
  /** How long it may stand idle. Beyond it the store may end it, so that a process that is gone keeps no locks. */
  readonly idleMs?: number
}

export interface StoreTransaction<Tx = unknown> {
  /** What the handler sees as `ctx.tx`. */
  readonly tx: Tx
  /** Writes outcomes inside this transaction. Any false = that lease is dead: roll back. */
  settle(settlements: readonly Settlement[]): Promise<boolean[]>
  /** Moves a watermark forward inside this transaction. False = it is further already: the fact is stale. */
  advance(watermark: Watermark): Promise<boolean>
  /** As `Store.effect`, inside this transaction: undone with it. */
  effect(step: EffectStep): Promise<EffectState>
  /**
   * Settles and commits in as few steps as the store can. False = a lease is dead, and everything was rolled back.
   * COMMIT_UNKNOWN when the connection broke while committing.
   */
  finish(settlements: readonly Settlement[]): Promise<boolean>
  /** COMMIT_UNKNOWN when the connection broke while committing. */
  commit(): Promise<void>
  /** Does not wait for a statement of the handler that is still under way, where the store can cancel it. */
  rollback(): Promise<void>
}

export interface MigrationReport {
  readonly from: number
  readonly to: number
  readonly applied: readonly number[]
}

/** A migration: the same number and name in every store. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /**
   * The oldest schema number a process must know to go on working once this is applied. Default: any, so an older
   * process may run, and restart, beside a newer one. Set it to the migration's own number when older code would break.
   */
  readonly compatibleFrom?: number
  /**
   * For work that takes long: each statement runs in a transaction of its own, again and again until it changes no row.
   * Each must be safe to repeat and do a bounded amount of work.
   */
  readonly portions?: true
}
