/** The keys of the configuration and what each must be. `docs/configuration.md` describes them for people. */
import type { IntakeLimits } from '../intake/receive.js'
import type { GroupCommitOptions } from '../intake/record.js'
import type { RetryPolicy } from '../processing/backoff.js'
import type { ProcessingOptions } from '../processing/processor.js'
import type { AdminOptions, Token } from '../server/admin/options.js'
import { roles } from '../server/admin/roles.js'
import type { ServerOptions } from '../server/options.js'
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

const token = shape({
  name: text,
  role: choice(...roles),
  sha256: rule('the SHA-256 of the token in hex, 64 digits', (value) =>
    /^[0-9a-f]{64}$/i.test(String(value)),
  ),
  expiresAt: either(text, whole(0)),
} satisfies Record<keyof Token, Rule>)

const admin = shape({
  basePath: rule('text', (value) => typeof value === 'string'),
  readOnly: flag,
  tokens: listOf(token),
  authorize: callable,
  open: flag,
  hosts: listOf(text),
  sessionSecret: text,
  sessionMs: whole(1),
  maxStreams: whole(0),
  static: callable,
} satisfies Record<keyof AdminOptions, Rule>)

const server = shape({
  host: text,
  port: whole(0, 65_535),
  tls: shape({ cert: text, key: text }),
  trustProxy: either(flag, whole(0, 100), listOf(text)),
  publicUrl: text,
  admin: either(no, admin),
  metrics: flag,
  open: flag,
  drainMs: whole(0),
  readyTimeoutMs: whole(1),
  headersTimeoutMs: whole(100),
  requestTimeoutMs: whole(100),
  keepAliveTimeoutMs: whole(1),
  maxConnections: whole(1),
  processes: whole(1, 1_024),
} satisfies Record<keyof ServerOptions, Rule>)

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

/** Looked at more closely by the part that takes it. */
const handedOn = either(rule('an object', isPlain), rule('a list', Array.isArray), no)

const config = shape({
  store,
  sources: mapOf(source),
  handlers: callable,
  processing: either(no, processing),
  server,
  limits,
  commits,
  tracing: flag,
  migrate: flag,
  retention: handedOn,
  spool: handedOn,
  seen: handedOn,
  destinations: handedOn,
  encryption: handedOn,
  telemetry: handedOn,
  alerts: handedOn,
  redact: handedOn,
  log: either(logger, choice('debug', 'info', 'warn', 'error', 'silent')),
} satisfies Record<keyof HookonceConfig, Rule>)

/** Every problem of a configuration, in words; none = it can be used. */
export function configProblems(given: unknown): string[] {
  const problems = problemsOf(given, config)
  if (!isPlain(given)) return problems
  for (const name of ['store', 'sources'] as const)
    if (given[name] === undefined) problems.unshift(`"${name}" is missing`)
  return problems
}
