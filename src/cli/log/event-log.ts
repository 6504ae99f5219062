/**
 * The event log as commands see it. Two implementations: `store-log.ts` opens the store, `server-log.ts` asks a server.
 * Shapes are those of the admin API, so that `--json` says the same either way.
 */
import type { EventFilter, EventKey, OrderResult, Position } from '../../model.js'
import type { BulkOptions, BulkResult, OrderOptions } from '../../processing/orders.js'
import type { AttemptView, EventView } from '../../server/admin/views.js'

export type { AttemptView, EventView }

export interface PayloadView {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Which of the events of its delivery this is, from 0. */
  readonly part: number
}

export interface FollowOptions {
  /** Null: what enters the log from now on. */
  readonly after: Position | null
  readonly source?: string
  readonly signal: AbortSignal
}

export interface Followed {
  readonly events: readonly EventView[]
  /** Everything up to here has been seen. */
  readonly position: Position
  /** True when retention has removed events since the position before: some were missed. */
  readonly gap: boolean
}

export type Verb = 'retry' | 'replay' | 'ignore'

export interface EventLog extends AsyncDisposable {
  /** For words: `sqlite:events.db`, `http://127.0.0.1:4100`. Never a password. */
  readonly name: string
  /** Newest first. A page may be short and still have a next one. */
  list(
    filter: EventFilter,
    page: { readonly limit: number; readonly cursor: string | null },
  ): Promise<{ readonly events: readonly EventView[]; readonly next: string | null; readonly cut: boolean }>
  get(key: EventKey): Promise<EventView | null>
  attempts(key: EventKey): Promise<readonly AttemptView[]>
  /** Null when it has been removed. Reading it goes into the audit. */
  payload(key: EventKey, reason: string): Promise<PayloadView | null>
  /** The provider of each source, as far as it is known. */
  providers(): Promise<Readonly<Record<string, string>>>
  /** What enters the log, in order, until the signal says stop. */
  follow(options: FollowOptions): AsyncGenerator<Followed, void>
  order(verb: Verb, key: EventKey, options: OrderOptions): Promise<OrderResult>
  orderMany(verb: Verb, filter: EventFilter, options: BulkOptions): Promise<BulkResult>
}
