/** People write `30d` and read `30 days`. */
const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
type Unit = keyof typeof unitMs

/** A duration in an option: `'90s'`, `'12h'`, `'30d'`, or a number of milliseconds. */
export type Duration = `${number}${Unit}` | number

/** Null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const [, amount, unit] = /^(\d{1,15}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  return amount === undefined ? null : Math.round(Number(amount) * unitMs[unit as Unit])
}

export function durationMs(value: unknown): number | null {
  if (typeof value === 'string') return parseDuration(value)
  return typeof value === 'number' ? value : null
}

/** Only for an option that has passed its rule. */
export function msOf(value: Duration | undefined, byDefault: Duration): number {
  const ms = durationMs(value ?? byDefault)
  if (ms === null) throw new RangeError('not a duration: the option was not checked')
  return ms
}

const words = [
  ['day', unitMs.d],
  ['hour', unitMs.h],
  ['minute', unitMs.m],
  ['second', unitMs.s],
] as const

/**
 * For a duration that somebody has chosen, which an error message must repeat exactly: `80 hours`, not `3.3 days`. Rounds
 * only where no unit is exact in three digits.
 */
export function durationText(ms: number): string {
  const exact = words.find(([, sizeMs]) => Number.isInteger((ms / sizeMs) * 10) && ms >= sizeMs)
  return exact && ms < 1_000 * exact[1] ? inUnits(ms, exact) : ageText(ms)
}

/** `7.5 minutes`: for a time that has passed, rounded to a tenth of the largest unit. */
export function ageText(ms: number): string {
  return inUnits(ms, words.find(([, sizeMs]) => ms >= sizeMs) ?? ['ms', 1])
}

function inUnits(ms: number, [word, sizeMs]: readonly [string, number]): string {
  const amount = Math.round((ms / sizeMs) * 10) / 10
  if (word === 'ms') return `${amount} ms`
  return `${amount} ${word}${amount === 1 ? '' : 's'}`
}
