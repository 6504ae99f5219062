/** The retention of each source, checked when the inbox is created, before anything can be removed. */
import { durationText, msOf } from '../duration.js'
import { type HookonceError, invalid } from '../errors.js'
import {
  checkOptions,
  choice,
  duration,
  either,
  isObject,
  type Rule,
  rule,
  shape,
  whole,
} from '../options.js'
import type { RetentionAges, Source } from '../provider.js'
import type { ArchiveTarget } from './archive/target.js'

export interface RetentionOptions extends RetentionAges {
  /** Payloads are archived here before they are removed: `directory(path)` or `s3({ ... })` from `hookonce/archive`. */
  readonly archive?: ArchiveTarget
  /** Maximum number of rows of a kind that are removed in one transaction. Default 500. */
  readonly batch?: number
}

export interface SourcePolicy {
  readonly payloads: number
  readonly events: number
  readonly attempts: number
  readonly audits: number
}

export type RetentionPolicy = ReadonlyMap<string, SourcePolicy>

const DAY_MS = 86_400_000
const defaults = { payloads: 30 * DAY_MS, events: 90 * DAY_MS }
const ages = ['payloads', 'events', 'attempts', 'audits'] as const
/** Fifty years: a longer age would begin before 1970. */
const MAX_AGE_MS = 50 * 365 * DAY_MS
const ageRule = duration(0, MAX_AGE_MS)

const agesRules = {
  payloads: ageRule,
  events: either(ageRule, choice('forever')),
  attempts: ageRule,
  audits: ageRule,
} satisfies Record<keyof RetentionAges, Rule>

const agesRule = shape(agesRules)

export const retentionRule = shape({
  ...agesRules,
  archive: rule('directory(path) or s3({ ... }) of hookonce/archive', isObject),
  batch: whole(1, 10_000),
} satisfies Record<keyof RetentionOptions, Rule>)

export function retentionPolicy(
  options: RetentionOptions,
  sources: ReadonlyMap<string, Source>,
): RetentionPolicy {
  checkOptions('', options, retentionRule, invalidRetention)
  return new Map([...sources].map(([name, source]) => [name, policyOf(name, source, options)]))
}

function policyOf(name: string, source: Source, options: RetentionOptions): SourcePolicy {
  const own = source.retention
  checkOptions(`of "${name}"`, own, agesRule, invalidRetention)
  const configured = (age: (typeof ages)[number]): number | undefined => {
    const value = own[age] ?? options[age]
    if (value === undefined) return undefined
    return value === 'forever' ? Number.POSITIVE_INFINITY : msOf(value, 0)
  }
  const events = configured('events') ?? (staysValid(source) ? Number.POSITIVE_INFINITY : defaults.events)
  const payloads = configured('payloads') ?? Math.min(defaults.payloads, events)
  if (payloads > events) {
    const problem = `must not be longer than events (${durationText(events)}), and is ${durationText(payloads)}`
    throw invalidRetention(`payloads of "${name}"`, problem)
  }
  if (source.retryWindowMs !== null && events < source.retryWindowMs) {
    const window = durationText(source.retryWindowMs)
    throw invalid(
      `In retention, events of "${name}"`,
      `must be at least ${window}, not ${durationText(events)}: ${source.name} retries that long, and a late retry would be a new event`,
    )
  }
  return {
    payloads,
    events,
    attempts: configured('attempts') ?? Math.min(events, defaults.events),
    audits: configured('audits') ?? Math.min(events, defaults.events),
  }
}

/**
 * A captured delivery stays valid for ever where no signed time is checked. With a captured token or password an attacker can
 * make new deliveries, so a kept id does not help there; a client certificate protects every delivery.
 */
function staysValid({ scheme }: Source): boolean {
  const signs = !['token', 'basic', 'mtls', 'none'].includes(scheme.kind)
  return signs && (scheme.timestamp?.toleranceMs ?? null) === null
}

function invalidRetention(what: string, problem: string): HookonceError {
  return invalid(
    `In retention, ${what}`,
    `${problem}. An age is written as 30d, 12h or a number of milliseconds`,
  )
}
