/**
 * The contract of a store, the database that holds the log. Every store has `Log`, and may leave out a capability. `stores/`
 * holds the implementations; `storeContract` in `hookonce/testing/contracts` tests them, with a section for each capability.
 *
 * Rules for every store:
 * - `record` resolves only after its rows are committed and flushed to disk (promise 1).
 * - Uniqueness of (source, eventId) is a constraint of the database, never a lookup before an insert (promise 2).
 * - A lease ends when its time is over or when the event is claimed again. An expired lease changes nothing.
 * - Time is the store's own clock.
 * - Malformed input is INVALID_INPUT before anything is written: `checked(store)` in `stores/shared/` is in front of both.
 */
import { HookonceError } from './errors.js'
import type { Archive } from './store/archive.js'
import type { AuditTrail } from './store/audit.js'
import type { Consumers } from './store/consumers.js'
import type { Duplicates } from './store/duplicates.js'
import type { Grants } from './store/grants.js'
import type { History } from './store/history.js'
import type { Imports } from './store/imports.js'
import type { Inspect } from './store/inspect.js'
import type { Keys } from './store/keys.js'
import type { Log } from './store/log.js'
import type { Pauses } from './store/pauses.js'
import type { Reconciles } from './store/reconciles.js'
import type { Replies } from './store/replies.js'
import type { Retention } from './store/retention.js'

export type * from './store/archive.js'
export type * from './store/audit.js'
export type * from './store/consumers.js'
export type * from './store/duplicates.js'
export type * from './store/grants.js'
export type * from './store/history.js'
export type * from './store/imports.js'
export type * from './store/inspect.js'
export type * from './store/keys.js'
export type * from './store/log.js'
export type * from './store/pauses.js'
export type * from './store/reconciles.js'
export type * from './store/replies.js'
export type * from './store/retention.js'
export type * from './store/retention.js'
export type * from './store/waiting.js'
export type * from './store/why.js'

export interface Capabilities {
  readonly keys: Keys
  readonly retention: Retention
  readonly archive: Archive
  readonly audit: AuditTrail
  readonly inspect: Inspect
  readonly duplicates: Duplicates
  readonly history: History
  readonly imports: Imports
  readonly consumers: Consumers
  readonly reconciles: Reconciles
  readonly replies: Replies
  readonly grants: Grants
  readonly pauses: Pauses
}

export type Capability = keyof Capabilities

export const capabilities = [
  'keys',
  'retention',
  'archive',
  'audit',
  'inspect',
  'duplicates',
  'history',
  'imports',
  'consumers',
  'reconciles',
  'replies',
  'grants',
  'pauses',
] as const satisfies readonly Capability[]

/** A store without a capability works; the features that need it throw STORE_LACKS. */
export type Store<Tx = unknown> = Log<Tx> & Partial<Capabilities>

/** `sqlite()` and `postgres()` have every capability. */
export type CompleteStore<Tx = unknown> = Log<Tx> & Capabilities

/** Throws STORE_LACKS. `feature`: the option, method or command that needs the capability. */
export function need<C extends Capability>(
  store: Pick<Store, 'name' | C>,
  capability: C,
  feature: string,
): Capabilities[C] {
  const found = store[capability] as Capabilities[C] | undefined
  if (found === undefined) throw new HookonceError('STORE_LACKS', { store: store.name, capability, feature })
  return found
}
