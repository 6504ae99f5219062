/** The options of a factory, checked by name, so that a misspelt option is an error. */
import { HookonceError } from '../../errors.js'
import { duration, nearest } from '../../options.js'
import type { SourceOptions } from '../../provider.js'
import type { Aliases } from './definition.js'

/** An option of a provider besides its secret. */
export interface OptionRule {
  /** For documentation and error messages: the meaning of the option and where to find its value. */
  readonly what: string
  readonly required?: true
  /** A list of texts is allowed too. */
  readonly list?: true
  readonly default?: string
  /** A value for tests and samples. */
  readonly example: string
}

export type OptionRules = Readonly<Record<string, OptionRule>>

const sourceOptionNames: readonly (keyof SourceOptions)[] = [
  'mode',
  'conflict',
  'rearm',
  'order',
  'contentGuard',
  'tolerance',
  'retention',
]

const toleranceRule = duration(1, 366 * 86_400_000)

/** The options by our names. An unknown option throws here, before a missing one is reported. */
export function namedOptions(
  provider: string,
  input: unknown,
  known: {
    readonly credentials: readonly string[]
    readonly others: readonly string[]
    readonly aliases: Aliases
  },
): Readonly<Record<string, unknown>> {
  const { credentials, others, aliases } = known
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input))) {
    const problem = `must be an object, such as ${provider}({ ${credentials[0] ?? 'mode'}: ... })`
    throw new HookonceError('OPTION_INVALID', { provider, option: '(all)', problem })
  }
  const options: Record<string, unknown> = {}
  const names = [...credentials, ...others, ...sourceOptionNames]
  for (const [option, value] of Object.entries(input ?? {})) {
    const alias = Object.hasOwn(aliases, option) ? aliases[option]! : null
    if (alias === null && !names.includes(option)) {
      throw unknownOption(provider, option, names, Object.keys(aliases), missing(credentials, input!))
    }
    const name = alias ?? option
    if (value !== undefined && options[name] !== undefined) {
      const problem = 'mean the same; give only one'
      throw new HookonceError('OPTION_INVALID', { provider, option: `${name} and ${option}`, problem })
    }
    if (value !== undefined || options[name] === undefined) options[name] = value
  }
  return options
}

/** The option of the secret, if it is missing: an unknown name without a similar one was probably meant for it. */
function missing(credentials: readonly string[], input: object): string | undefined {
  return credentials.some((name) => (input as Record<string, unknown>)[name] !== undefined)
    ? undefined
    : credentials[0]
}

function unknownOption(
  provider: string,
  option: string,
  names: readonly string[],
  aliases: readonly string[],
  fallback?: string,
): HookonceError {
  const near = nearest(option, [...names, ...aliases]) ?? fallback
  const suggestion = near === undefined ? '' : ` Did you mean "${near}"?`
  return new HookonceError('OPTION_UNKNOWN', { provider, option, suggestion, known: names.join(', ') })
}

/** Adds defaults; throws on an unknown, missing or malformed option. */
export function checkOptions(
  provider: string,
  input: Readonly<Record<string, unknown>>,
  rules: OptionRules,
  otherNames: readonly string[],
): Readonly<Record<string, unknown>> {
  const known = [...otherNames, ...Object.keys(rules), ...sourceOptionNames]
  for (const option of Object.keys(input)) {
    if (!known.includes(option)) throw unknownOption(provider, option, known, [])
  }
  const options: Record<string, unknown> = { ...input }
  for (const [option, rule] of Object.entries(rules)) {
    const value = input[option] ?? rule.default
    if (value === undefined && !rule.required) continue
    if (!(rule.list && Array.isArray(value) ? value.length > 0 && value.every(isText) : isText(value))) {
      throw new HookonceError('OPTION_INVALID', {
        provider,
        option,
        problem: `must be text${rule.list ? ' or a list of texts' : ''}: ${rule.what}`,
      })
    }
    options[option] = value
  }
  checkChoice(provider, input, 'mode', ['background', 'inline'])
  checkChoice(provider, input, 'conflict', ['ack', 'reject'])
  checkChoice(provider, input, 'rearm', [true, false])
  checkChoice(provider, input, 'order', ['reference'])
  checkChoice(provider, input, 'contentGuard', ['review', 'accept', 'reject'])
  checkUrl(provider, input.publicUrl)
  for (const option of ['fetch', 'getKey']) {
    if (input[option] === undefined || typeof input[option] === 'function') continue
    throw new HookonceError('OPTION_INVALID', { provider, option, problem: 'must be a function' })
  }
  const { tolerance } = input
  if (tolerance !== undefined && !toleranceRule.fits(tolerance)) {
    const problem = `must be ${toleranceRule.expected}; the check cannot be disabled`
    throw new HookonceError('OPTION_INVALID', { provider, option: 'tolerance', problem })
  }
  return options
}

function checkUrl(provider: string, value: unknown): void {
  if (value === undefined) return
  if (typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)) return
  const problem = 'must be the whole URL that the sender calls, such as "https://example.com/webhooks/x"'
  throw new HookonceError('OPTION_INVALID', { provider, option: 'publicUrl', problem })
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function checkChoice(
  provider: string,
  input: Readonly<Record<string, unknown>>,
  option: string,
  choices: readonly (string | boolean)[],
): void {
  const value = input[option]
  if (value === undefined || choices.includes(value as string | boolean)) return
  throw new HookonceError('OPTION_INVALID', {
    provider,
    option,
    problem: `must be ${choices.join(' or ')}`,
  })
}
