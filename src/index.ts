/** hookonce: receive webhooks once. */
export { type Clock, systemClock } from './clock.js'
export { defineConfig, env, type HookonceConfig } from './config/define.js'
export type { Duration } from './duration.js'
export type { EncryptionOptions } from './encryption/key-ring.js'
export { type ErrorCode, HookonceError, isHookonceError } from './errors.js'
export type { ProviderEvents } from './inbox/event-types.js'
export { type ActionMethod, createInbox, type Inbox, type InboxOptions } from './inbox.js'
export type { EventReceipt, Receipt, ReceiptStatus } from './intake/answer.js'
export type { LimitOptions } from './intake/receive.js'
export { jsonLog, type LogFields, type Logger, type LogLevel, silentLog } from './log.js'
export type {
  ActionRefusal,
  ActionResult,
  EventFilter,
  EventKey,
  EventPage,
  EventRecord,
  Reference,
  Reply,
  SourceStats,
  State,
  TailOptions,
  TailPage,
} from './model.js'
export type { OnceKeyOptions } from './once.js'
export type { ActionOptions, BulkOptions, BulkResult } from './processing/actions.js'
export { permanent, postpone, type RetryPolicy, retryAfter } from './processing/failure.js'
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
export type { ProcessingOptions } from './processing/options.js'
export type { RedactOptions } from './processing/redact.js'
export { type ReplyOptions, reply } from './processing/reply.js'
export type { Result } from './processing/result.js'
export type { Waiting } from './processing/waiting.js'
export type {
  Delivery,
  ListedEvent,
  ListReader,
  RetentionAges,
  SenderList,
  Source,
  SourceOptions,
} from './provider.js'
export type { ReconcileOptions } from './reconcile/options.js'
export type { ReconcileCounts, ReconcileReport } from './reconcile/report.js'
export type { EraseAllOptions } from './retention/erase.js'
export type { RetentionOptions } from './retention/policy.js'
export type { RetainOptions, RetainReport } from './retention/retain.js'
export { lru, type Seen, type SeenEntry, type SeenKey } from './seen/seen.js'
export type { Spool, SpoolOptions, SpoolStatus } from './spool/spool.js'
export type { Attempt, Audit, AuditFilter, AuditPage, EraseResult, Pause, Payload, Store } from './store.js'
