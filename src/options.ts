/**
 * Checks of options. Each module writes the rules of its options once, beside their type; the module itself and the
 * configuration file check them with the same rules. A message names the option and what it must be, and does not
 * quote text, because it may be a secret.
 */
import { type Duration, durationMs, durationText, msOf } from './duration.js'
import { type HookonceError, invalid } from './errors.js'
import { nearest } from './nearest.js'

export interface Rule {
  /** What the value must be, in words that follow "must be". */
  readonly expected: string
  fits(value: unknown): boolean
  /** For an object whose option names are known. */
  readonly keys?: Readonly<Record<string, Rule>>
  /** For the values of a list, or of an object whose names the user chooses. */
  readonly each?: Rule
  readonly required?: true
}

export interface OptionProblem {
  /** Like `server.admin.tokens[0].role`. */
  readonly what: string
  readonly problem: string
}

export function checkOptions(
  name: string,
  value: unknown,
  rule: Rule,
  fail: (what: string, problem: string) => HookonceError = invalid,
): void {
  const [first, ...others] = optionProblems(name, value, rule)
  if (first === undefined) return
  const more = others.map(({ what, problem }) => `; ${what} ${problem}`).join('')
  throw fail(first.what, `${first.problem}${more}`)
}

export function optionProblems(name: string, value: unknown, rule: Rule): OptionProblem[] {
  const { expected, fits, keys, each } = rule
  if (!fits(value)) return [{ what: name, problem: `must be ${expected}, not ${describe(value)}` }]
  if (keys !== undefined && isObject(value)) return keyProblems(name, value, keys)
  if (each === undefined) return []
  return Object.entries(value as object).flatMap(([key, inner]) =>
    optionProblems(Array.isArray(value) ? `${name}[${key}]` : `${name}.${key}`, inner, each),
  )
}

function keyProblems(
  name: string,
  value: Record<string, unknown>,
  keys: Readonly<Record<string, Rule>>,
): OptionProblem[] {
  const at = (key: string) => (name === '' ? key : `${name}.${key}`)
  const missing = Object.entries(keys)
    .filter(([key, rule]) => rule.required && value[key] === undefined)
    .map(([key, { expected }]) => ({ what: at(key), problem: `is missing; it must be ${expected}` }))
  const wrong = Object.entries(value).flatMap(([key, inner]) => {
    const rule = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (rule === undefined) return [{ what: at(key), problem: notAnOption(key, Object.keys(keys)) }]
    return inner === undefined ? [] : optionProblems(at(key), inner, rule)
  })
  return [...wrong, ...missing]
}

function notAnOption(name: string, known: readonly string[]): string {
  const near = nearest(name, known)
  return near === undefined
    ? `is not an option; known options: ${known.join(', ')}`
    : `is not an option; did you mean "${near}"?`
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return value.trim() === '' ? 'empty text' : 'text'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

export const text: Rule = rule('text', (value) => typeof value === 'string' && value.trim() !== '')
/** May be empty. */
export const anyText: Rule = rule('text', (value) => typeof value === 'string')
export const anyValue: Rule = rule('anything', () => true)
export const flag: Rule = rule('true or false', (value) => typeof value === 'boolean')
export const callable: Rule = rule('a function', (value) => typeof value === 'function')
export const clockRule: Rule = rule(
  'a clock with now()',
  (value) => isObject(value) && typeof value.now === 'function',
)
export const off: Rule = rule('false', (value) => value === false)

/** A longer timer of Node would end at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  const range = most === Number.MAX_SAFE_INTEGER ? `, ${least} or more` : ` from ${least} to ${most}`
  return rule(
    `a whole number${range}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  )
}

export function numberFrom(least: number): Rule {
  return rule(`a number, ${least} or more`, (value) => Number.isFinite(value) && Number(value) >= least)
}

export function numberAbove(bound: number, most: number): Rule {
  return rule(
    `a number above ${bound}, at most ${most}`,
    (value) => Number.isFinite(value) && Number(value) > bound && Number(value) <= most,
  )
}

/** `msOf` reads the value. */
export function duration(leastMs: number, mostMs: number): Rule {
  const range = `from ${durationText(leastMs)} to ${durationText(mostMs)}`
  return rule(`a duration ${range}, such as '30s' or 30000`, (value) => {
    const ms = durationMs(value)
    return Number.isSafeInteger(ms) && ms! >= leastMs && ms! <= mostMs
  })
}

/** Milliseconds of a duration that is not part of options that were checked before. */
export function checkedMs(name: string, value: Duration | undefined, byDefault: Duration): number {
  if (value !== undefined) checkOptions(name, value, duration(0, MAX_TIMER_MS))
  return msOf(value, byDefault)
}

export function choice(...choices: readonly string[]): Rule {
  return rule(choices.map((name) => `"${name}"`).join(' or '), (value) => choices.includes(value as string))
}

export function shape(keys: Readonly<Record<string, Rule>>): Rule {
  return { expected: 'an object', fits: isObject, keys }
}

export function mapOf(each: Rule): Rule {
  return { expected: 'an object', fits: isObject, each }
}

export function listOf(each: Rule): Rule {
  return { expected: 'a list', fits: Array.isArray, each }
}

/** The options of the first object among the rules are checked. */
export function either(...rules: readonly Rule[]): Rule {
  const keys = rules.find((rule) => rule.keys)?.keys
  const each = rules.find((rule) => rule.each)?.each
  return {
    expected: rules.map((rule) => rule.expected).join(', or '),
    fits: (value) => rules.some((rule) => rule.fits(value)),
    ...(keys && { keys }),
    ...(each && { each }),
  }
}

export function required(rule: Rule): Rule {
  return { ...rule, required: true }
}

/** Makes all options required: for options that were merged with their defaults. */
export function complete(rule: Rule): Rule {
  const keys = Object.entries(rule.keys ?? {}).map(([key, inner]) => [key, required(inner)])
  return { ...rule, keys: Object.fromEntries(keys) }
}

export function rule(expected: string, fits: (value: unknown) => boolean): Rule {
  return { expected, fits }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Drops undefined values: they would override those of a default or a configuration. */
export function defined<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
