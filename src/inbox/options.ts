/** `hookonce.config.ts` has these keys too. */
import type { Clock } from '../clock.js'
import type { EncryptionOptions } from '../encryption/key-ring.js'
import { invalid } from '../errors.js'
import type { LimitOptions } from '../intake/receive.js'
import { jsonLog, type Logger, type LogLevel } from '../log.js'
import {
  anyValue,
  checkOptions,
  choice,
  clockRule,
  either,
  flag,
  isObject,
  listOf,
  mapOf,
  off,
  type Rule,
  required,
  rule,
  shape,
  text,
} from '../options.js'
import type { RetryPolicy } from '../processing/failure.js'
import type { HandlerOptions } from '../processing/handler.js'
import { type ProcessingOptions, processingRule } from '../processing/options.js'
import type { RedactOptions } from '../processing/redact.js'
import type { Source } from '../provider.js'
import { orderProblem } from '../references.js'
import type { RetentionOptions } from '../retention/policy.js'
import type { Seen } from '../seen/seen.js'
import type { SpoolOptions } from '../spool/spool.js'
import { sourceNameProblem } from '../store/input.js'
import { need, type Store } from '../store.js'
import type { Sources } from './event-types.js'

export interface InboxOptions<Tx = unknown, S extends Sources = Sources> {
  /** A store, or its URL: `sqlite:events.db`, `sqlite::memory:`, `postgres://user@host/db`. */
  readonly store: Store<Tx> | string
  /**
   * Whether `stop` closes the store. Default true, even for a store that was made by `postgres({ url })` or
   * `sqlite(path)`. A pool that was passed to `postgres({ pool })` belongs to the caller and is never closed. False = the
   * store is used by others too, and the caller closes it.
   */
  readonly ownsStore?: boolean
  /** The sources by name. The name is the end of the path: `/webhooks/<name>`. */
  readonly sources: S
  /** The largest and slowest delivery that is accepted. */
  readonly limits?: LimitOptions
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
  /**
   * A logger, such as a pino logger, or the level from which on JSON lines are written to standard error. Default
   * `info`.
   */
  readonly log?: Logger | LogLevel
  /** Masked in errors before they are stored, in addition to secrets and credentials. */
  readonly redact?: RedactOptions
  /** For tests. Default: the clock of this machine. */
  readonly clock?: Clock
  /** How this process runs handlers, and the default retry policy. False = it only receives. */
  readonly processing?: (ProcessingOptions & { readonly retry?: Partial<RetryPolicy> }) | false
  /**
   * Event types that workers in other languages handle, by source or consumer: `{ 'stripe/billing': ['invoice.*'] }`. Their
   * events wait for a worker.
   */
  readonly workers?: Readonly<Record<string, readonly string[]>>
  /** Makes spans through `@opentelemetry/api` when it is installed. Default true. */
  readonly tracing?: boolean
  /** Brings the schema up to date when the store is opened. Default true. */
  readonly migrate?: boolean
}

export const storeRule: Rule = rule(
  'a store',
  (value) => isObject(value) && typeof value.record === 'function',
)

export const storeUrlRule: Rule = { ...text, expected: 'its URL (sqlite:events.db, postgres://user@host/db)' }

export const logRule: Rule = either(
  rule(
    'a logger with debug, info, warn and error',
    (value) =>
      isObject(value) &&
      ['debug', 'info', 'warn', 'error'].every((name) => typeof value[name] === 'function'),
  ),
  choice('debug', 'info', 'warn', 'error', 'silent'),
)

const anyObject = rule('an object', isObject)

export const workersRule: Rule = mapOf(listOf(text))

/** The options inside of an object are checked by the module that takes them. */
const inboxRule = shape({
  store: required(either(storeRule, storeUrlRule)),
  ownsStore: flag,
  sources: required(mapOf(anyValue)),
  limits: anyObject,
  spool: anyObject,
  seen: anyObject,
  retention: either(off, anyObject),
  encryption: anyObject,
  log: logRule,
  redact: anyObject,
  clock: clockRule,
  processing: either(off, processingRule),
  workers: workersRule,
  tracing: flag,
  migrate: flag,
} satisfies Record<keyof InboxOptions, Rule>)

/** Runs first: a misspelt option would be ignored in silence. */
export function checkInboxOptions(options: unknown): void {
  checkOptions('createInbox(options)', options, inboxRule)
}

export function inboxLog(log: InboxOptions['log']): Logger {
  return typeof log === 'object' ? log : jsonLog(log)
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
    const wrongOrder = source.order == null ? null : orderProblem(source.order, source.labels)
    if (wrongOrder) throw invalid(`The option \`order\` of the source "${name}"`, wrongOrder)
    if (source.unverified) {
      log.warn({ source: name }, 'this source is not verified: anyone who can reach it can record events')
    }
  }
  warnOfSharedSecrets([...sources], log)
  return sources
}

/** A signature that covers the URL is valid for one source only: the URL has its name. */
function warnOfSharedSecrets(sources: readonly (readonly [string, Source])[], log: Logger): void {
  for (const [i, [name, source]] of sources.entries()) {
    if (source.scheme?.covers.url) continue
    const { key, secretDigests = [] } = source
    const shares = (other: Source) => other.secretDigests?.some((digest) => secretDigests.includes(digest))
    const others = sources.slice(0, i).filter(([, other]) => other.key === key && shares(other))
    for (const [other] of others)
      log.warn(
        { source: name, other },
        `the sources "${other}" and "${name}" have the same secret, and the signature does not cover the source: a delivery to one of them is accepted by the other. Give each its own secret`,
      )
  }
}

/** Names the option that the store cannot serve. A store from a URL has every capability. */
export function checkCapabilities({
  store,
  sources,
  seen,
  retention,
}: Pick<InboxOptions, 'store' | 'sources' | 'seen' | 'retention'>): void {
  if (typeof store === 'string') return
  if (Object.values(sources).some(({ reconcile }) => reconcile))
    for (const capability of ['keys', 'imports', 'history', 'reconciles'] as const)
      need(store, capability, 'the option reconcile')
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

export function checkHandler(
  store: Store | string,
  { stale, consumer, limit }: Pick<HandlerOptions, 'stale' | 'consumer' | 'limit'>,
): void {
  if (typeof store === 'string') return
  if (stale) need(store, 'keys', 'the handler option stale')
  if (consumer !== undefined) need(store, 'consumers', 'the handler option consumer')
  if (limit) need(store, 'grants', 'the handler option limit')
}

/** Without the option, retention runs where the store can. */
export function canRetain(store: Store | string): boolean {
  return typeof store === 'string' || (store.retention !== undefined && store.keys !== undefined)
}
