/** Ages as people write them: `30d`, `12h`, or milliseconds. */
import { HookonceError } from '../errors.js'

export type Age = `${number}${'s' | 'm' | 'h' | 'd' | 'w'}` | number

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
/** Beyond fifty years, instants before 1970 would come out. */
const MOST_MS = 50 * 365 * units.d

export function ageMs(what: string, age: unknown): number {
  const ms = typeof age === 'number' ? age : parse(age)
  if (ms === null || !Number.isSafeInteger(ms) || ms < 0 || ms > MOST_MS)
    throw new HookonceError('RETENTION_INVALID', {
      what,
      problem: `must be an age, not "${String(age).slice(0, 40)}"`,
    })
  return ms
}

function parse(age: unknown): number | null {
  const found = /^(\d{1,9}(?:\.\d{1,3})?)(s|m|h|d|w)$/.exec(typeof age === 'string' ? age.trim() : '')
  return found ? Math.round(Number(found[1]) * units[found[2] as keyof typeof units]) : null
}

export function ageText(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= units[unit] && ms % units[unit] === 0) return `${ms / units[unit]}${unit}`
  }
  return `${ms} ms`
}
