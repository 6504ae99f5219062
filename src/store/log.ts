import type { HookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type {
  Action,
  ActionResult,
  ClaimedEvent,
  ClaimOptions,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  Lease,
  NewDelivery,
  RecordClaim,
  RecordVerdict,
  Settlement,
  SourceStats,
  TailOptions,
  TailPage,
} from '../model.js'
import type { TransactionKeys } from './keys.js'
import type { TransactionReplies } from './replies.js'

export interface Log<Tx = unknown> {
  /** Shown in log lines and errors: `sqlite:events.db`, `postgres:hookonce`. Never contains a password. */
  readonly name: string

  /** True when an open transaction blocks all other writes of this process. Effects are then written inside it. */
  readonly singleWriter: boolean

  logTo?(log: Logger): void

  /** Brings the schema up to date. Safe when several processes call it at once. */
  migrate(): Promise<MigrationReport>

  record(deliveries: readonly NewDelivery[], claim?: RecordClaim): Promise<RecordVerdict[][]>

  /** Claims due events, oldest due first. Each gets a new token, and its attempt is counted. */
  claim(options: ClaimOptions): Promise<ClaimedEvent[]>
  /** Makes live leases expire `leaseMs` from now. False = the lease has expired. */
  extend(leases: readonly Lease[], leaseMs: number): Promise<boolean[]>
  /** Writes outcomes. False = the lease has expired, and nothing was written for it. */
  settle(settlements: readonly Settlement[]): Promise<boolean[]>
  /**
   * Gives claimed events back before their attempt started: it does not count. They are due again after `delayMs`. False =
   * the lease has expired.
   */
  release(leases: readonly Lease[], delayMs?: number): Promise<boolean[]>
  /**
   * For a handler. The caller must commit or roll back. Throws POOL_EXHAUSTED when other transactions use every connection
   * for too long.
   */
  transaction(options?: TransactionOptions): Promise<StoreTransaction<Tx>>

  /**
   * At most 1,000 events per call. Returns a result for each, in the order of the input. A store with `audit` writes an entry
   * for each event it changes.
   */
  operate(action: Action): Promise<ActionResult[]>

  get(key: EventKey): Promise<EventRecord | null>
  /** Newest first. */
  list(filter: EventFilter, page?: { limit?: number; cursor?: string | null }): Promise<EventPage>
  /** The oldest come first. At most `limits.listPage` per call. */
  tail(options: TailOptions): Promise<TailPage>
  /** One row for each source, sorted by name. Never scans the log. */
  stats(): Promise<SourceStats[]>
  /**
   * Calls `wake` when another process has recorded events, or has paused or resumed something. Workers poll as well: a missed
   * call only costs time. Resolves to a function that ends the subscription.
   */
  subscribe(wake: (news: News) => void): Promise<() => Promise<void>>
  /**
   * Throws unless a delivery could be recorded now: the store is unreachable, read-only or full, or has no schema. Cheap
   * while records succeed; after a failed record it writes a test row until one succeeds. Returns the clock of the store.
   */
  ping(): Promise<number>
  /** Writes buffered counts and closes all connections. Later calls throw STORE_CLOSED. */
  close(): Promise<void>
}

export type News = 'events' | 'pauses'

export interface TransactionOptions {
  /** The store may end a transaction that is idle for longer: a dead process must not hold its locks. */
  readonly idleMs?: number
  readonly leases?: readonly Lease[]
}

export interface StoreTransaction<Tx = unknown> {
  readonly tx: Tx
  /** The transaction did not begin, and the store has found out after it returned `tx`. */
  readonly beginFailure?: HookonceError | null
  /** Writes outcomes inside this transaction. Any false = that lease has expired: roll back. */
  settle(settlements: readonly Settlement[]): Promise<boolean[]>
  /**
   * Settles and commits in as few round trips as possible. False = a lease has expired, and everything was rolled back.
   * Throws COMMIT_UNKNOWN when the connection broke during the commit. `onSent` is called when the commit is under way and
   * the next transaction can use its connection; a store may never call it.
   */
  finish(settlements: readonly Settlement[], onSent?: () => void): Promise<boolean>
  /** Throws COMMIT_UNKNOWN when the connection broke during the commit. */
  commit(): Promise<void>
  /** Cancels a statement of the handler that is still running, where the store can. */
  rollback(): Promise<void>
  /** Present when the store has `keys`. */
  readonly keys?: TransactionKeys
  /** Present when the store has `replies`. */
  readonly replies?: TransactionReplies
}

export interface MigrationReport {
  readonly from: number
  readonly to: number
  readonly applied: readonly number[]
}

/** A migration has one number and name in every store. */
export interface Migration {
  readonly number: number
  readonly name: string
  /**
   * On PostgreSQL an index on a table of an earlier migration is built with `create index concurrently if not exists`. It
   * runs outside a transaction, so the commands before it must be safe to repeat (`if not exists`).
   */
  readonly sql: string
  /**
   * The oldest schema number that a process must know to continue once this migration is applied. Left out: older
   * processes may run, and restart, beside newer ones. Set it to the migration's own number when older code would break.
   */
  readonly compatibleFrom?: number
  /**
   * For long migrations: each statement runs in its own transaction and is repeated until it changes no row. Each
   * statement must be safe to repeat and do a bounded amount of work.
   */
  readonly portions?: true
}
