/** hookonce: receive webhooks once. */
export { type Clock, systemClock } from './clock.js'
export { defineConfig, env, type HookonceConfig } from './config/define.js'
export type { AttemptEnd, Counters, Histogram, SourceCounters } from './counters.js'
export type { Duration } from './duration.js'
export type { EncryptionOptions } from './encryption/key-ring.js'
export { type ErrorCode, errorTable, HookonceError, isHookonceError } from './errors.js'
export type { EventTypeOf, PayloadOf, ProviderEvents, Sources } from './inbox/event-types.js'
export { createInbox, type Inbox, type InboxOptions, type OrderVerb } from './inbox.js'
export type { EventReceipt, Receipt, ReceiptStatus } from './intake/answer.js'
export type { EarlyRefusal, IntakeLimits, LimitOptions } from './intake/receive.js'
export { jsonLog, type LogFields, type Logger, type LogLevel, silentLog } from './log.js'
export * from './model.js'
export type { OnceKeyOptions } from './once.js'
export type { BulkOptions, BulkResult, OrderOptions } from './processing/commands.js'
export type { RetryPolicy } from './processing/failure.js'
export { permanent, postpone, retryAfter } from './processing/failure.js'
export type {
  BatchContext,
  BatchHandler,
  HandledEvent,
  Handler,
  HandlerContext,
  HandlerOptions,
  OnceOptions,
  StandardSchema,
} from './processing/handler.js'
export type { ProcessingOptions } from './processing/processor.js'
export type { RedactOptions } from './processing/redact.js'
export type { Result } from './processing/result.js'
export type {
  Delivery,
  ExpectedAnswer,
  HandshakeReply,
  IdentifiedEvent,
  Provider,
  RejectReason,
  RetentionAges,
  SampleOptions,
  SignOptions,
  Source,
  SourceOptions,
  Verification,
} from './provider.js'
export type { EraseAllOptions } from './retention/erase.js'
export type { RetentionOptions } from './retention/policy.js'
export type { Removed, RetainOptions, RetainProgress, RetainReport } from './retention/retain.js'
export type { Seen, SeenEntry, SeenKey } from './seen/seen.js'
export { lru } from './seen/seen.js'
export type { Spool, SpoolOptions, SpoolStatus } from './spool/spool.js'
export type * from './store/archive.js'
export type * from './store/audit.js'
export type * from './store/duplicates.js'
export type * from './store/imports.js'
export type * from './store/inspect.js'
export type * from './store/keys.js'
export type * from './store/log.js'
export type * from './store/retention.js'
export type { Capabilities, Capability, CompleteStore, Store } from './store.js'
