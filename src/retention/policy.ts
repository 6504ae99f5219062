/** The retention of each source. It is checked when the inbox is created, before anything can be removed. */
import { type Age, durationMs, durationText } from '../duration.js'
import { HookonceError } from '../errors.js'
import {
  checkOptions,
  choice,
  duration,
  either,
  isObject,
  mapOf,
  type Rule,
  rule,
  shape,
  whole,
} from '../options.js'
import type { Source } from '../provider.js'
import type { ArchiveTarget } from './archive/target.js'

export interface RetentionAges {
  /** Payloads of finished events. Default 30 days. */
  readonly payloads?: Age
  /**
   * Finished events and their keys: for this time, a second delivery is a duplicate. Default 90 days, and `forever` when the
   * sender signs deliveries without a time that is checked: a captured delivery is then valid for ever.
   */
  readonly events?: Age | 'forever'
  /** Attempts of finished events. Default: as long as the events, and at most 90 days. */
  readonly attempts?: Age
  /** Audits. Default: as long as the events, and at most 90 days. */
  readonly audits?: Age
}

export interface RetentionOptions extends RetentionAges {
  /** Ages of single sources, by name. */
  readonly sources?: Readonly<Record<string, RetentionAges>>
  /** Payloads are archived here before they are removed: `directory(path)` or `s3({ ... })` from `hookonce/archive`. */
  readonly archive?: ArchiveTarget
  /** Default `jsonl`. `parquet` needs the package hyparquet-writer. */
  readonly format?: 'jsonl' | 'parquet'
  /** Maximum number of rows of a kind that are removed in one transaction. Default 500. */
  readonly batch?: number
}

/** The ages of one source in milliseconds. Infinity: for ever. */
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
const ageRule = duration('an age such as "30d"', 0, MAX_AGE_MS)

const agesRules = {
  payloads: ageRule,
  events: either(ageRule, choice('forever')),
  attempts: ageRule,
  audits: ageRule,
} satisfies Record<keyof RetentionAges, Rule>

export const retentionRule = shape({
  ...agesRules,
  sources: mapOf(shape(agesRules)),
  archive: rule('directory(path) or s3({ ... }) of hookonce/archive', isObject),
  format: choice('jsonl', 'parquet'),
  batch: whole(1, 10_000),
} satisfies Record<keyof RetentionOptions, Rule>)

export function retentionPolicy(
  options: RetentionOptions,
  sources: ReadonlyMap<string, Source>,
): RetentionPolicy {
  checkRetention(options, sources)
  return new Map([...sources].map(([name, source]) => [name, policyOf(name, source, options)]))
}

function policyOf(name: string, source: Source, options: RetentionOptions): SourcePolicy {
  const own = options.sources?.[name] ?? {}
  const ofSource = { payloads: source.retention.payloadsMs, events: source.retention.eventsMs }
  const configured = (age: (typeof ages)[number]): number | undefined => {
    const value = own[age] ?? (age in ofSource ? ofSource[age as 'events'] : undefined) ?? options[age]
    if (value === undefined) return undefined
    return value === 'forever' ? Number.POSITIVE_INFINITY : ageMs(`${age} of "${name}"`, value)
  }
  const events = configured('events') ?? (staysValid(source) ? Number.POSITIVE_INFINITY : defaults.events)
  const payloads = configured('payloads') ?? Math.min(defaults.payloads, events)
  if (payloads > events) {
    const problem = `must not be longer than events (${durationText(events)}), and is ${durationText(payloads)}`
    throw invalidRetention(`payloads of "${name}"`, problem)
  }
  if (source.retryWindowMs !== null && events < source.retryWindowMs) {
    throw new HookonceError('RETENTION_TOO_SHORT', {
      source: name,
      age: durationText(events),
      provider: source.name,
      window: durationText(source.retryWindowMs),
    })
  }
  return {
    payloads,
    events,
    attempts: configured('attempts') ?? Math.min(events, defaults.events),
    audits: configured('audits') ?? Math.min(events, defaults.events),
  }
}

function ageMs(what: string, age: unknown): number {
  checkOptions(what, age, ageRule, invalidRetention)
  return durationMs(age)!
}

/**
 * Whether a captured delivery stays valid for ever, because no signed time is checked. With a captured token or password, an
 * attacker can make new deliveries, so keeping the key does not help there; a client certificate protects every delivery.
 */
function staysValid({ scheme }: Source): boolean {
  const signs = !['token', 'basic', 'mtls', 'none'].includes(scheme.kind)
  return signs && (scheme.timestamp?.toleranceMs ?? null) === null
}

function checkRetention(options: RetentionOptions, sources: ReadonlyMap<string, Source>): void {
  checkOptions('', options, retentionRule, invalidRetention)
  for (const name of Object.keys(options.sources ?? {}))
    if (!sources.has(name)) throw invalidRetention(`sources.${name}`, 'does not name a configured source')
}

function invalidRetention(what: string, problem: string): HookonceError {
  return new HookonceError('RETENTION_INVALID', { what, problem })
}
