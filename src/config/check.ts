/** The keys of the configuration and what each must be. `docs/configuration.md` describes them for people. */

import type { EncryptionOptions } from '../encryption/keys.js'
import type { Destination } from '../forward/destination.js'
import type { IntakeLimits } from '../intake/receive.js'
import type { GroupCommitOptions } from '../intake/record.js'
import type { RetryPolicy } from '../processing/backoff.js'
import type { ProcessingOptions } from '../processing/processor.js'
import type { RedactOptions } from '../processing/redact.js'
import type { RetentionAges, RetentionOptions } from '../retention/policy.js'
import type { SpoolOptions } from '../spool/spool.js'
import type { HookonceConfig } from './define.js'
import {
  callable,
  choice,
  either,
  flag,
  isPlain,
  listOf,
  mapOf,
  no,
  problemsOf,
  type Rule,
  rule,
  shape,
  text,
  whole,
} from './rules.js'
import { serverKeys } from './server-keys.js'

const store = either(
  rule('a store', (value) => isPlain(value) && typeof value.record === 'function'),
  { ...text, expected: 'its URL (sqlite:events.db, postgres://user@host/db)' },
  { ...callable, expected: 'a function that gives the URL' },
)

const source = rule(
  'what a provider factory returns, such as stripe({ secret })',
  (value) => isPlain(value) && typeof value.verify === 'function' && typeof value.identify === 'function',
)

const logger = rule(
  'a logger with debug, info, warn and error',
  (value) =>
    isPlain(value) && ['debug', 'info', 'warn', 'error'].every((name) => typeof value[name] === 'function'),
)

const retry = shape({
  maxAttempts: whole(1),
  firstMs: whole(0),
  factor: rule('a number, 1 or more', (value) => typeof value === 'number' && value >= 1),
  maxMs: whole(0),
} satisfies Record<keyof RetryPolicy, Rule>)

const processing = shape({
  concurrency: whole(1),
  buffer: whole(0),
  leaseMs: whole(1),
  pollMs: whole(1),
  worker: text,
  retry,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

const limits = shape({
  bodyBytes: whole(1),
  headerCount: whole(1),
  headerBytes: whole(1),
  bodyTimeoutMs: whole(1),
} satisfies Record<keyof IntakeLimits, Rule>)

const commits = shape({
  maxBatch: whole(1),
  maxBatchBytes: whole(1),
  maxUnderWay: whole(1),
  maxWaiting: whole(1),
  maxWaitingBytes: whole(1),
} satisfies Record<keyof Omit<GroupCommitOptions, 'onCommit'>, Rule>)

const spool = shape({
  path: text,
  maxBytes: whole(1),
  afterMs: whole(1),
  seal: rule('what makes it unreadable for others', isPlain),
} satisfies Record<keyof SpoolOptions, Rule>)

const seen = rule(
  'lru() of hookonce, or redis(client) of hookonce/redis',
  (value) => isPlain(value) && typeof value.get === 'function' && typeof value.put === 'function',
)

const redact = shape({
  paths: listOf(text),
  patterns: listOf(
    either(
      text,
      rule('a regular expression', (value) => value instanceof RegExp),
    ),
  ),
  excerptLength: whole(0),
  maxMessage: whole(0),
  stack: flag,
  maxStack: whole(0),
} satisfies Record<keyof RedactOptions, Rule>)

const destination = shape({
  url: text,
  secret: either(text, listOf(text), callable),
  source: text,
  sources: listOf(text),
  types: listOf(text),
  timeoutMs: whole(1),
  retry,
  ratePerSecond: rule('a number above 0', (value) => typeof value === 'number' && value > 0),
  concurrency: whole(1),
  allowPrivate: listOf(text),
  pauseAfter: either(no, shape({ failures: whole(1), lastingMs: whole(0) })),
  probeEveryMs: whole(1),
  headers: mapOf(text),
  ca: text,
} satisfies Record<keyof Destination, Rule>)

const age = either({ ...text, expected: 'an age such as "30d"' }, whole(0))

const ages = {
  payloads: age,
  events: age,
  attempts: age,
  audits: age,
} satisfies Record<keyof RetentionAges, Rule>

const retention = shape({
  ...ages,
  sources: mapOf(shape(ages)),
  archive: rule('directory(path) or s3({ ... }) of hookonce/archive', isPlain),
  format: choice('jsonl', 'parquet'),
  batch: whole(1),
} satisfies Record<keyof RetentionOptions, Rule>)

const encryption = shape({
  current: text,
  keys: mapOf(
    either(
      text,
      rule('32 bytes', (value) => value instanceof Uint8Array),
    ),
  ),
} satisfies Record<keyof EncryptionOptions, Rule>)

/** Looked at more closely by the part that takes it. */
const handedOn = either(rule('an object', isPlain), rule('a list', Array.isArray), no)

const config = shape({
  store,
  sources: mapOf(source),
  handlers: callable,
  processing: either(no, processing),
  server: serverKeys,
  limits,
  commits,
  tracing: flag,
  migrate: flag,
  retention: either(no, retention),
  spool,
  seen,
  destinations: mapOf(destination),
  encryption,
  telemetry: handedOn,
  alerts: handedOn,
  redact,
  log: either(logger, choice('debug', 'info', 'warn', 'error', 'silent')),
} satisfies Record<keyof HookonceConfig, Rule>)

/** Every key there is, with what is above it: `server.admin.tokens`. */
export const configKeys: readonly string[] = keysOf(config)

function keysOf({ keys, each }: Rule, where = ''): string[] {
  if (each !== undefined) return keysOf(each, where)
  return Object.entries(keys ?? {}).flatMap(([name, inner]) => [
    `${where}${name}`,
    ...keysOf(inner, `${where}${name}.`),
  ])
}

/** Every problem of a configuration, in words; none = it can be used. */
export function configProblems(given: unknown): string[] {
  const problems = problemsOf(given, config)
  if (!isPlain(given)) return problems
  const several = isPlain(given.server) && Number(given.server.processes) > 1
  if (several && given.store === 'sqlite::memory:')
    problems.push(
      'server.processes needs a store they can share: each process would have a sqlite::memory: of its own',
    )
  for (const name of ['store', 'sources'] as const)
    if (given[name] === undefined) problems.unshift(`"${name}" is missing`)
  return problems
}
