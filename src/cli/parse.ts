/** Option values as commander hands them over, read or refused with the reason. */
import { InvalidArgumentError } from 'commander'
import { parseDuration } from '../duration.js'

export function portNumber(text: string): number {
  return whole(text, 0, 65_535)
}

export function count(text: string): number {
  return whole(text, 1, 1_000_000)
}

export function rate(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('It is not a number above 0.')
  return value
}

function whole(text: string, least: number, most: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new InvalidArgumentError(`It is not a whole number from ${least} to ${most}.`)
  return value
}

/** `90s`, `15m`, `24h`, `30d` as milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === null) throw new InvalidArgumentError('It is not a duration such as 90s, 15m, 24h or 30d.')
  return ms
}

/** A time, or how long ago: `2026-07-01`, `2026-07-01T12:00:00Z`, `2h`. */
export function instant(text: string): number {
  const agoMs = parseDuration(text)
  if (agoMs !== null) return Date.now() - agoMs
  const at = /^\d{4}-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('It is neither a time such as 2026-07-01T12:00:00Z nor an age such as 2h.')
  return at
}

/** A day of a calendar: `2026-07-01`. */
export function day(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('It is not a day such as 2026-07-01.')
  return text
}

/** For options that may be given several times. */
export function collect(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}
