/** What an inbox is made of. `hookonce.config.ts` has the same keys. */
import type { Clock } from '../clock.js'
import type { EncryptionOptions } from '../encryption/key-ring.js'
import type { GroupCommitOptions } from '../intake/group-commit.js'
import type { IntakeLimits } from '../intake/receive.js'
import type { Logger } from '../log.js'
import type { RetryPolicy } from '../processing/backoff.js'
import type { ProcessingOptions } from '../processing/processor.js'
import type { RedactOptions } from '../processing/redact.js'
import type { Source } from '../provider.js'
import type { RetentionOptions } from '../retention/policy.js'
import type { Seen } from '../seen/seen.js'
import type { SpoolOptions } from '../spool/spool.js'
import type { Store } from '../store.js'

export interface InboxOptions<Tx = unknown> {
  /** A store, or its URL: `sqlite:events.db`, `sqlite::memory:`, `postgres://user@host/db`. */
  readonly store: Store<Tx> | string
  /** Whether `stop` closes the store. Default: only one that was opened from its URL. */
  readonly ownsStore?: boolean
  /** Where events come from, by name. The name is the last part of the path: `/webhooks/<name>`. */
  readonly sources: Readonly<Record<string, Source>>
  readonly limits?: Partial<IntakeLimits>
  readonly commits?: Omit<GroupCommitOptions, 'onCommit' | 'withinMs'>
  /** A local file that takes deliveries while the store cannot be reached. Default: none; the answer is then 503. */
  readonly spool?: SpoolOptions
  /** Answers duplicates it remembers without the store: `lru()`, or `redis(client)` of `hookonce/redis`. Default: none. */
  readonly seen?: Seen
  /**
   * How long payloads, events, attempts and audits are kept; once started, one process a day removes what is older.
   * Default: payloads 30 days, the rest 90. False = nothing is removed by itself.
   */
  readonly retention?: RetentionOptions | false
  /** Encrypts what is stored of a delivery, headers and body. Default: it is stored as it came. */
  readonly encryption?: EncryptionOptions
  /** Default: warnings and errors as JSON lines on standard error. A pino logger fits. */
  readonly log?: Logger
  /** What is taken out of errors before they are stored. Secrets and excerpts of the payload always are. */
  readonly redact?: RedactOptions
  readonly clock?: Clock
  /** How this process runs handlers, with defaults for their retries; false = it only receives. */
  readonly processing?: (ProcessingOptions & { readonly retry?: Partial<RetryPolicy> }) | false
  /** Spans through `@opentelemetry/api`, when the application has it. Default true. */
  readonly tracing?: boolean
  /** Bring the schema up to date on first use. Default true. */
  readonly migrate?: boolean
}
