/** Signed timestamps: read strictly, held against the clock on both sides (S8). */
import type { FieldText } from '../delivery/field.js'
import type { RejectReason, TimestampUnit } from '../provider.js'

export interface TimestampRule {
  /** A field, or `signature` where it stands in the signature's own text (`t=...,v1=...`). */
  readonly in: FieldText | 'signature'
  readonly unit: TimestampUnit
  /**
   * Default five minutes. Null where the sender stamps the event and not the attempt, so that its retries would be
   * refused; then the clock is only used when the source sets `toleranceMs`.
   */
  readonly toleranceMs?: number | null
}

export const defaultToleranceMs = 300_000

export function effectiveTolerance(rule: TimestampRule, option: number | undefined): number | null {
  if (option !== undefined) return option
  return rule.toleranceMs === undefined ? defaultToleranceMs : rule.toleranceMs
}

/** Null when it is within the window. */
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
const iso = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:?\d{2})$/

/** Milliseconds, or null. Never parseInt: `1700000000abc` is not a number. */
export function parseTimestamp(text: string, unit: TimestampUnit): number | null {
  if (unit !== 'iso') {
    if (!digits.test(text)) return null
    return unit === 's' ? Number(text) * 1_000 : Number(text)
  }
  const parts = iso.exec(text)
  if (parts === null) return null
  const zone =
    parts[3] === 'Z' || parts[3]!.includes(':') ? parts[3]! : `${parts[3]!.slice(0, 3)}:${parts[3]!.slice(3)}`
  const at = Date.parse(`${parts[1]}${(parts[2] ?? '.0').slice(0, 4)}${zone}`)
  return Number.isNaN(at) ? null : at
}

export function formatTimestamp(now: number, unit: TimestampUnit): string {
  if (unit === 'iso') return new Date(now).toISOString()
  return String(unit === 's' ? Math.floor(now / 1_000) : Math.floor(now))
}
