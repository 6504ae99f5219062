/** Signed timestamps are parsed strictly, and compared with the clock on both sides (S8). */
import type { Duration } from '../../duration.js'
import { checkedMs } from '../../options.js'
import type { RejectReason, TimestampUnit } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'

export interface TimestampRule {
  /** `signature`: the time is in the text of the signature (`t=...,v1=...`). */
  readonly in: FieldText | 'signature'
  readonly unit: TimestampUnit
  /**
   * Default five minutes. Null when the sender signs the time of the event and not of the attempt: its retries would be
   * rejected. The time is then compared with the clock only if the source sets `tolerance`.
   */
  readonly tolerance?: Duration | null
}

export function effectiveTolerance(rule: TimestampRule, option: number | undefined): number | null {
  if (option !== undefined) return option
  if (rule.tolerance === null) return null
  return checkedMs('timestamp.tolerance', rule.tolerance, '5m')
}

export function judgeTimestamp(
  text: string | undefined,
  unit: TimestampUnit,
  toleranceMs: number | null,
  now: number,
): RejectReason | null {
  if (text === undefined || text === '') return 'missing_timestamp'
  const at = parseTimestamp(text, unit)
  if (at === null) return 'malformed_timestamp'
  if (toleranceMs === null) return null
  if (at < now - toleranceMs) return 'stale_timestamp'
  return at > now + toleranceMs ? 'future_timestamp' : null
}

const digits = /^\d{1,13}$/
const iso = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})?$/

/** Milliseconds, or null. parseInt would accept `1700000000abc`. */
function parseTimestamp(text: string, unit: TimestampUnit): number | null {
  if (unit === 's' || unit === 'ms') {
    if (!digits.test(text)) return null
    return unit === 's' ? Number(text) * 1_000 : Number(text)
  }
  const match = iso.exec(text)
  // A time without a zone is ambiguous, unless the sender documents that it is UTC.
  if (match === null || (match[3] === undefined && unit !== 'iso-utc')) return null
  const offset = match[3] ?? 'Z'
  const zone = offset === 'Z' || offset.includes(':') ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`
  const at = Date.parse(`${match[1]}${(match[2] ?? '.0').slice(0, 4)}${zone}`)
  return Number.isNaN(at) ? null : at
}

export function formatTimestamp(now: number, unit: TimestampUnit): string {
  if (unit === 'iso') return new Date(now).toISOString()
  if (unit === 'iso-utc') return new Date(now).toISOString().replace('Z', '')
  return String(unit === 's' ? Math.floor(now / 1_000) : Math.floor(now))
}
