/** The keys an inbox is made with, and what each must be. */
import type { EncryptionOptions } from '../encryption/key-ring.js'
import type { GroupCommitOptions } from '../intake/group-commit.js'
import type { IntakeLimits } from '../intake/receive.js'
import {
  choice,
  either,
  flag,
  isObject,
  listOf,
  mapOf,
  off,
  type Rule,
  rule,
  shape,
  text,
  whole,
} from '../options.js'
import type { RetryPolicy } from '../processing/failure.js'
import type { ProcessingOptions } from '../processing/processor.js'
import type { RedactOptions } from '../processing/redact.js'
import type { RetentionAges, RetentionOptions } from '../retention/policy.js'
import type { SpoolOptions } from '../spool/spool.js'

export const retry = shape({
  maxAttempts: whole(1),
  firstMs: whole(0),
  factor: rule('a number, 1 or more', (value) => typeof value === 'number' && value >= 1),
  maxMs: whole(0),
} satisfies Record<keyof RetryPolicy, Rule>)

export const processing = shape({
  concurrency: whole(1),
  buffer: whole(0),
  leaseMs: whole(1),
  pollMs: whole(1),
  worker: text,
  retry,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

export const limits = shape({
  bodyBytes: whole(1),
  headerCount: whole(1),
  headerBytes: whole(1),
  bodyTimeoutMs: whole(1),
  recordMs: whole(1),
  allBodiesBytes: whole(1),
} satisfies Record<keyof IntakeLimits, Rule>)

export const commits = shape({
  maxBatch: whole(1),
  maxBatchBytes: whole(1),
  maxUnderWay: whole(1),
  maxWaiting: whole(1),
  maxWaitingBytes: whole(1),
} satisfies Record<keyof Omit<GroupCommitOptions, 'onCommit' | 'withinMs'>, Rule>)

export const spool = shape({
  path: text,
  maxBytes: whole(1),
  afterMs: whole(1),
  seal: rule('what makes it unreadable for others', isObject),
} satisfies Record<keyof SpoolOptions, Rule>)

export const seen = rule(
  'lru() of hookonce, or redis(client) of hookonce/redis',
  (value) => isObject(value) && typeof value.get === 'function' && typeof value.put === 'function',
)

export const redact = shape({
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

const age = either({ ...text, expected: 'an age such as "30d"' }, whole(0))

const ages = {
  payloads: age,
  events: age,
  attempts: age,
  audits: age,
  tombstones: either(age, choice('forever'), off),
} satisfies Record<keyof RetentionAges, Rule>

export const retention = shape({
  ...ages,
  sources: mapOf(shape(ages)),
  archive: rule('directory(path) or s3({ ... }) of hookonce/archive', isObject),
  format: choice('jsonl', 'parquet'),
  batch: whole(1),
} satisfies Record<keyof RetentionOptions, Rule>)

export const encryption = shape({
  current: text,
  keys: mapOf(
    either(
      text,
      rule('32 bytes', (value) => value instanceof Uint8Array),
    ),
  ),
  required: flag,
} satisfies Record<keyof EncryptionOptions, Rule>)
