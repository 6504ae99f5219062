/** hookonce: receive webhooks once. */
export { type Clock, systemClock } from './clock.js'
export { type ErrorCode, errorTable, HookonceError, isHookonceError } from './errors.js'
export { createInbox, type Inbox, type InboxOptions, type OrderOptions } from './inbox.js'
export type { EventReceipt, Receipt, ReceiptStatus } from './intake/answer.js'
export type { Counters, SourceCounters } from './intake/counters.js'
export type { IntakeLimits } from './intake/receive.js'
export { jsonLog, type LogFields, type Logger, type LogLevel, silentLog } from './log.js'
export * from './model.js'
export type {
  ContentGuard,
  Delivery,
  ExpectedAnswer,
  HandshakeReply,
  IdentifiedEvent,
  Provider,
  RejectReason,
  SampleOptions,
  SignOptions,
  Source,
  SourceOptions,
  Verification,
} from './provider.js'
export type { Migration, MigrationReport, Store, StoreTransaction } from './store.js'
