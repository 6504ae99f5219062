/**
 * `hookonce/testing`: tests of handlers, for any test runner. The contracts for authors of stores and providers are in
 * `hookonce/testing/contracts`.
 */
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
