/** The options of an inbox, and their checks. `hookonce.config.ts` has the same keys. */
import type { Clock } from '../clock.js'
import type { EncryptionOptions } from '../encryption/key-ring.js'
import { invalid } from '../errors.js'
import type { GroupCommitOptions } from '../intake/group-commit.js'
import { type IntakeLimits, limitsRule } from '../intake/receive.js'
import type { Logger } from '../log.js'
import { checkOptions, complete } from '../options.js'
import type { RetryPolicy } from '../processing/failure.js'
import type { HandlerOptions } from '../processing/handler.js'
import type { ProcessingOptions } from '../processing/processor.js'
import type { RedactOptions } from '../processing/redact.js'
import type { Source } from '../provider.js'
import type { RetentionOptions } from '../retention/policy.js'
import type { Seen } from '../seen/seen.js'
import type { SpoolOptions } from '../spool/spool.js'
import { sourceNameProblem } from '../store/input.js'
import { need, type Store } from '../store.js'

export interface InboxOptions<Tx = unknown> {
  /** A store, or its URL: `sqlite:events.db`, `sqlite::memory:`, `postgres://user@host/db`. */
  readonly store: Store<Tx> | string
  /** Whether `stop` closes the store. Default: only a store that was opened from its URL. */
  readonly ownsStore?: boolean
  /** The sources by name. The name is the end of the path: `/webhooks/<name>`. */
  readonly sources: Readonly<Record<string, Source>>
  readonly limits?: Partial<IntakeLimits>
  readonly commits?: Omit<GroupCommitOptions, 'onCommit' | 'withinMs'>
  /** A local file that takes deliveries while the store is unavailable. Default: none; the answer is then 503. */
  readonly spool?: SpoolOptions
  /** A cache of known events: `lru()`, or `redis(client)` of `hookonce/redis`. It answers duplicates without the store. Default: none. */
  readonly seen?: Seen
  /**
   * How long payloads, events, attempts and audits are stored. After `start`, one process removes older rows once a
   * day. Default: payloads 30 days, the rest 90. False = no automatic removal.
   */
  readonly retention?: RetentionOptions | false
  /** Encrypts the stored headers and body of each delivery. Default: no encryption. */
  readonly encryption?: EncryptionOptions
  /** Default: warnings and errors as JSON lines on standard error. A pino logger can be used. */
  readonly log?: Logger
  /** Masked in errors before they are stored, in addition to secrets and excerpts of the payload. */
  readonly redact?: RedactOptions
  readonly clock?: Clock
  /** How this process runs handlers, and the default retry policy. False = it only receives. */
  readonly processing?: (ProcessingOptions & { readonly retry?: Partial<RetryPolicy> }) | false
  /** Makes spans through `@opentelemetry/api` when it is installed. Default true. */
  readonly tracing?: boolean
  /** Brings the schema up to date when the store is opened. Default true. */
  readonly migrate?: boolean
}

export function checkSources(
  configured: Readonly<Record<string, Source>>,
  log: Logger,
): ReadonlyMap<string, Source> {
  const sources = new Map(Object.entries(configured))
  for (const [name, source] of sources) {
    const problem = sourceNameProblem(name)
    if (problem) throw invalid(`The source name "${name}"`, problem)
    if (typeof source?.verify !== 'function') {
      throw invalid(`The source "${name}"`, 'must be made by a provider factory, such as stripe({ secret })')
    }
    if (source.unverified) {
      log.warn({ source: name }, 'this source is not verified: anyone who can reach it can record events')
    }
  }
  return sources
}

/** Names the option that the store cannot serve. A store from a URL has every capability. */
export function checkCapabilities({
  store,
  seen,
  retention,
}: Pick<InboxOptions, 'store' | 'seen' | 'retention'>): void {
  if (typeof store === 'string') return
  if (seen) {
    need(store, 'keys', 'the option seen')
    need(store, 'duplicates', 'the option seen')
  }
  if (retention) {
    need(store, 'retention', 'the option retention')
    need(store, 'keys', 'the option retention')
    if (retention.archive) need(store, 'archive', 'the option retention.archive')
  }
}

export function checkHandler(store: Store | string, { stale }: Pick<HandlerOptions, 'stale'>): void {
  if (stale && typeof store !== 'string') need(store, 'keys', 'the handler option stale')
}

/** Without the option, retention runs where the store can. */
export function canRetain(store: Store | string): boolean {
  return typeof store === 'string' || (store.retention !== undefined && store.keys !== undefined)
}

export function checkLimits(limits: IntakeLimits): IntakeLimits {
  checkOptions('limits', limits, complete(limitsRule))
  return limits
}
