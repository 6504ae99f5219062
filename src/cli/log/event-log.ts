/**
 * The event log for commands. Two implementations: `store-log.ts` uses a store, `server-log.ts` the admin API of a
 * server. The shapes are those of the admin API, so that `--json` prints the same with both.
 */
import type { ActionResult, EventFilter, EventKey, Position } from '../../model.js'
import type { ActionOptions, BulkOptions, BulkResult } from '../../processing/actions.js'
import type { AttemptView, EventView } from '../../server/admin/views.js'

export type { AttemptView, EventView }

export interface PayloadView {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** The position of the event in its delivery, from 0. */
  readonly part: number
}

export interface FollowOptions {
  readonly after: Position
  readonly source?: string
  readonly signal: AbortSignal
}

export interface Followed {
  readonly events: readonly EventView[]
  /** All events up to this position have been returned. */
  readonly position: Position
  /** Retention has deleted events after the previous position, so some were missed. */
  readonly gap: boolean
}

export type Verb = 'retry' | 'replay' | 'ignore'

export interface EventLog extends AsyncDisposable {
  /** For messages: `sqlite:events.db`, `http://127.0.0.1:4100`. Has no password. */
  readonly name: string
  /** Newest first. A page with fewer events than `limit` may have a next one. */
  list(
    filter: EventFilter,
    page: { readonly limit: number; readonly cursor: string | null },
  ): Promise<{ readonly events: readonly EventView[]; readonly next: string | null; readonly cut: boolean }>
  get(key: EventKey): Promise<EventView | null>
  attempts(key: EventKey): Promise<readonly AttemptView[]>
  /** In the order of the keys; null where it has been deleted. Each read is recorded in the audit. */
  payloads(keys: readonly EventKey[], note: string): Promise<readonly (PayloadView | null)[]>
  /** The provider of each source, where it is known. */
  providers(): Promise<Readonly<Record<string, string>>>
  /** Events as they are recorded, in order, until the signal is aborted. */
  follow(options: FollowOptions): AsyncGenerator<Followed, void>
  act(verb: Verb, key: EventKey, options: ActionOptions): Promise<ActionResult>
  actOnEvents(verb: Verb, filter: EventFilter, options: BulkOptions): Promise<BulkResult>
}
