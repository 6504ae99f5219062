/**
 * Commands reach the event log through a store (`store-log.ts`) or the admin API of a server (`server-log.ts`). Both
 * return the shapes of the admin API, so `--json` prints the same.
 */
import type { ActionResult, EventFilter, EventKey, Position } from '../../model.js'
import type { ActionOptions, BulkOptions, BulkResult } from '../../processing/actions.js'
import type { AttemptView, EventView, PauseView } from '../../server/admin/views.js'
import type { PauseKey } from '../../store.js'

export type { AttemptView, EventView, PauseView }

export interface PayloadView {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly part: number
}

export interface DeadLetterGroups {
  readonly groups: readonly (Readonly<Record<string, unknown>> & { readonly count: number })[]
  /** True when there are more dead letters than were read. */
  readonly cut: boolean
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
  /** Retention has deleted events that were not returned yet. */
  readonly gap: boolean
}

export type Verb = 'retry' | 'replay' | 'ignore'

export interface EventLog extends AsyncDisposable {
  /** Has no password: messages show it. */
  readonly name: string
  /** Newest first. A page with fewer events than `limit` may have a next one. */
  list(
    filter: EventFilter,
    page: { readonly limit: number; readonly cursor: string | null },
  ): Promise<{ readonly events: readonly EventView[]; readonly next: string | null; readonly cut: boolean }>
  get(key: EventKey): Promise<EventView | null>
  attempts(key: EventKey): Promise<readonly AttemptView[]>
  /** Grouped by cause, the latest first. */
  deadLetters(of: { readonly source?: string }): Promise<DeadLetterGroups>
  /** In the order of the keys; null where it has been deleted. Each read is recorded in the audit. */
  payloads(keys: readonly EventKey[], note: string): Promise<readonly (PayloadView | null)[]>
  /** Of its events, and those that are configured where it is served. Consumers are sources too. */
  sources(): Promise<readonly string[]>
  /** Empty when the log does not know the providers of its sources. */
  providers(): Promise<Readonly<Record<string, string>>>
  follow(options: FollowOptions): AsyncGenerator<Followed, void>
  act(verb: Verb, key: EventKey, options: ActionOptions): Promise<ActionResult>
  pauses(): Promise<readonly PauseView[]>
  /** False: it was so already. */
  changePause(verb: 'pause' | 'resume', key: PauseKey, note: string): Promise<boolean>
  actOnEvents(verb: Verb, filter: EventFilter, options: BulkOptions): Promise<BulkResult>
}
