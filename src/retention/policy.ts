/** The retention of each source. It is checked when the inbox is made, before anything can be removed. */
import { type Age, durationMs, durationText } from '../duration.js'
import { HookonceError } from '../errors.js'
import {
  checkOptions,
  choice,
  duration,
  either,
  isObject,
  mapOf,
  off,
  type Rule,
  rule,
  shape,
  whole,
} from '../options.js'
import type { Source } from '../provider.js'
import type { ArchiveTarget } from './archive/directory.js'

export interface RetentionAges {
  /** The bytes of finished events. Default 30 days. */
  readonly payloads?: Age
  /** Finished events and their keys: how long a second delivery is known as one. Default 90 days. */
  readonly events?: Age
  /** Attempts of finished events. Default: as long as the events. */
  readonly attempts?: Age
  /** What operators did. Default: as long as the events. */
  readonly audits?: Age
  /**
   * What is left of an event that was removed, 32 bytes, so that captured bytes are not a new event then: for ever, for so
   * long after the removal, or not at all. Default: `forever` where the sender signs but no signed time is checked, else
   * `false`.
   */
  readonly tombstones?: Age | 'forever' | false
}

export interface RetentionOptions extends RetentionAges {
  /** By source, where it differs. */
  readonly sources?: Readonly<Record<string, RetentionAges>>
  /** Where bytes are kept before they are removed: `directory(path)` or `s3({ ... })` from `hookonce/archive`. */
  readonly archive?: ArchiveTarget
  /** Default `jsonl`. `parquet` needs the package hyparquet-writer. */
  readonly format?: 'jsonl' | 'parquet'
  /** At most this many of a kind are removed in one transaction. Default 500. */
  readonly batch?: number
}

/** Milliseconds. */
export interface SourcePolicy {
  readonly payloads: number
  readonly events: number
  readonly attempts: number
  readonly audits: number
  /** After the event was removed; Infinity = for ever, 0 = none. */
  readonly tombstones: number
}

export type RetentionPolicy = ReadonlyMap<string, SourcePolicy>

const DAY_MS = 86_400_000
const defaults = { payloads: 30 * DAY_MS, events: 90 * DAY_MS }
const ages = ['payloads', 'events', 'attempts', 'audits'] as const
/** Fifty years: an older instant would be before 1970. */
const MAX_AGE_MS = 50 * 365 * DAY_MS
const ageRule = duration('an age such as "30d"', 0, MAX_AGE_MS)

const agesRules = {
  payloads: ageRule,
  events: ageRule,
  attempts: ageRule,
  audits: ageRule,
  tombstones: either(ageRule, choice('forever'), off),
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
    return value === undefined ? undefined : ageMs(`${age} of "${name}"`, value)
  }
  const events = configured('events') ?? defaults.events
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
    attempts: configured('attempts') ?? events,
    audits: configured('audits') ?? events,
    tombstones: tombstonesMs(name, own.tombstones ?? options.tombstones ?? byDefault(source)),
  }
}

function ageMs(what: string, age: unknown): number {
  checkOptions(what, age, ageRule, invalidRetention)
  return durationMs(age)!
}

function tombstonesMs(name: string, setting: Age | 'forever' | false): number {
  if (setting === false) return 0
  return setting === 'forever' ? Number.POSITIVE_INFINITY : ageMs(`tombstones of "${name}"`, setting)
}

/**
 * Captured bytes stay valid for ever where no signed time is held against the clock. Whoever has captured a token or a
 * password can make deliveries of his own; a tombstone keeps nobody out then.
 */
function byDefault({ scheme }: Source): 'forever' | false {
  const signs = !['token', 'basic', 'none'].includes(scheme.kind)
  return signs && (scheme.timestamp?.toleranceMs ?? null) === null ? 'forever' : false
}

function checkRetention(options: RetentionOptions, sources: ReadonlyMap<string, Source>): void {
  checkOptions('', options, retentionRule, invalidRetention)
  for (const name of Object.keys(options.sources ?? {}))
    if (!sources.has(name)) throw invalidRetention(`sources.${name}`, 'does not name a configured source')
}

function invalidRetention(what: string, problem: string): HookonceError {
  return new HookonceError('RETENTION_INVALID', { what, problem })
}
