import { type Duration, msOf, parseDuration } from '../duration.js'
import { invalid } from '../errors.js'
import { anyValue, callable, checkOptions, flag, type Rule, rule, shape } from '../options.js'
import type { Progress } from './run.js'

/** A date, or how long ago: `'3d'`. */
export type Instant = Date | Exclude<Duration, number>

export interface ReconcileOptions {
  /** The window begins here. Default `'1d'`. */
  readonly since?: Instant
  /** The window ends here, and at the latest five minutes ago: a younger event may still be on its way. Default: then. */
  readonly until?: Instant
  /** Compares, and records nothing. */
  readonly dryRun?: boolean
  /** Stops the run. What was recorded stays. */
  readonly signal?: AbortSignal
  /** Called for each page of the list. */
  readonly onProgress?: (progress: Progress) => void
}

const instant = rule(
  "a date, or how long ago, such as '3d'",
  (value) =>
    (value instanceof Date && Number.isFinite(value.getTime())) ||
    (typeof value === 'string' && parseDuration(value) !== null),
)

const reconcileRule = shape({
  since: instant,
  until: instant,
  dryRun: flag,
  signal: anyValue,
  onProgress: callable,
} satisfies Record<keyof ReconcileOptions, Rule>)

export function checkReconcileOptions(options: ReconcileOptions): void {
  checkOptions('reconcile(source, options)', options, reconcileRule)
}

/** Milliseconds since 1970. */
export function instantAt(value: Instant, now: number): number {
  return value instanceof Date ? value.getTime() : now - msOf(value, 0)
}

/** For a command line and the API: a duration, or a date in ISO 8601. */
export function parseInstant(name: string, text: string): Instant {
  if (parseDuration(text) !== null) return text as Instant
  const date = new Date(text)
  if (/^\d{4}-\d\d-\d\d/.test(text) && Number.isFinite(date.getTime())) return date
  throw invalid(name, 'must be how long ago (3d, 12h) or a date such as 2026-11-15T12:00:00Z')
}
