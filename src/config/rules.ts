/** What a value must be. A rule says what it expects in words, because the words are what a reader gets. */
import { nearest } from '../verification/define/options.js'

export interface Rule {
  readonly expected: string
  fits(value: unknown): boolean
  /** The keys of an object, where they are known. */
  readonly keys?: Readonly<Record<string, Rule>>
  /** What each value of an object or a list must be. */
  readonly each?: Rule
}

export const text: Rule = rule('text', (value) => typeof value === 'string' && value.trim() !== '')
export const flag: Rule = rule('true or false', (value) => typeof value === 'boolean')
export const callable: Rule = rule('a function', (value) => typeof value === 'function')

export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  const words =
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number, ${least} or more`
      : `a whole number from ${least} to ${most}`
  return rule(words, (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most)
}

export function choice(...choices: readonly string[]): Rule {
  return rule(choices.map((one) => `"${one}"`).join(' or '), (value) => choices.includes(value as string))
}

export function shape(keys: Readonly<Record<string, Rule>>): Rule {
  return { expected: 'an object', fits: isPlain, keys }
}

/** An object whose keys are names the user chose. */
export function mapOf(each: Rule): Rule {
  return { expected: 'an object', fits: isPlain, each }
}

export function listOf(each: Rule): Rule {
  return { expected: 'a list', fits: Array.isArray, each }
}

/** Any of these. The keys of the first one that is an object are checked. */
export function either(...rules: readonly Rule[]): Rule {
  return {
    expected: rules.map((one) => one.expected).join(', or '),
    fits: (value) => rules.some((one) => one.fits(value)),
    get keys() {
      return rules.find((one) => one.keys)?.keys
    },
    get each() {
      return rules.find((one) => one.each)?.each
    },
  } as Rule
}

export function rule(expected: string, fits: (value: unknown) => boolean): Rule {
  return { expected, fits }
}

export const no: Rule = rule('false', (value) => value === false)

export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every problem, with where it is. A value is never quoted: it may be a secret. */
export function problemsOf(value: unknown, { expected, fits, keys, each }: Rule, where = ''): string[] {
  if (!fits(value)) return [`${where || 'it'} must be ${expected}, and is ${kindOf(value)}`]
  if (keys !== undefined && isPlain(value)) return problemsOfKeys(value, keys, where)
  if (each === undefined) return []
  return Object.entries(value as object).flatMap(([name, one]) =>
    problemsOf(one, each, Array.isArray(value) ? `${where}[${name}]` : `${where}.${name}`),
  )
}

function problemsOfKeys(
  value: Record<string, unknown>,
  keys: Readonly<Record<string, Rule>>,
  where: string,
): string[] {
  return Object.entries(value).flatMap(([name, one]) => {
    const at = where ? `${where}.${name}` : name
    const known = Object.hasOwn(keys, name) ? keys[name] : undefined
    if (known !== undefined) return one === undefined ? [] : problemsOf(one, known, at)
    const near = nearest(name, Object.keys(keys))
    return [
      `there is no key "${at}"${near ? `, did you mean "${near}"?` : ` (${Object.keys(keys).join(', ')})`}`,
    ]
  })
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return `the number ${value}`
  if (typeof value === 'boolean') return String(value)
  return (
    { string: 'text', function: 'a function', object: 'an object' }[typeof value as string] ?? typeof value
  )
}
