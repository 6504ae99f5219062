/**
 * `hookonce/testing`: tests of handlers, for any test runner. The contracts for authors of stores and providers are in
 * `hookonce/testing/contracts`.
 */
import * as contracts from './contracts.js'

/** @deprecated Import these types from `hookonce/testing/contracts`. */
export type { Changes, Kind, KindBody, Kinds, StoreCase, StoreHarness } from './contracts.js'
export type { CrashStep } from './kit/crash.js'
export type { DeliverOptions } from './kit/delivery.js'
export { testSource } from './kit/delivery.js'
export {
  assertDuplicate,
  assertFailed,
  assertIgnored,
  assertSucceeded,
  type HookonceMatchers,
  matchers,
} from './kit/expectations.js'
export {
  type Delivered,
  type EventState,
  type TestInbox,
  type TestInboxOptions,
  testInbox,
} from './kit/test-inbox.js'

/** @deprecated Import it from `hookonce/testing/contracts`. */
export const providerContract: typeof contracts.providerContract = contracts.providerContract
/** @deprecated Import it from `hookonce/testing/contracts`. */
export const storeContract: typeof contracts.storeContract = contracts.storeContract
/** @deprecated Import it from `hookonce/testing/contracts`. */
export const storeContractFor: typeof contracts.storeContractFor = contracts.storeContractFor
