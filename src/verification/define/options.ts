/** The options of a factory. A misspelt option is an error. */
import { HookonceError } from '../../errors.js'
import { nearest } from '../../nearest.js'
import {
  anyValue,
  callable,
  choice,
  duration,
  either,
  flag,
  isObject,
  optionProblems,
  type Rule,
  required,
  rule,
  shape,
  text,
} from '../../options.js'
import type { ReconcileTimes, SourceOptions } from '../../provider.js'
import type { Aliases } from './definition.js'

export interface OptionRule {
  /** For documentation and error messages: its meaning, and the place where the user finds its value. */
  readonly what: string
  readonly required?: true
  /** Allows a list of texts too. */
  readonly list?: true
  /** Of a text. */
  readonly form?: RegExp
  readonly default?: string
  /** A value for tests and samples. */
  readonly example: string
}

export type OptionRules = Readonly<Record<string, OptionRule>>

const DAY_MS = 86_400_000

const sourceRules = {
  mode: choice('background', 'inline'),
  conflict: choice('ack', 'reject'),
  rearm: flag,
  order: text,
  references: rule(
    'an object of labels and fields, such as { order: "json:data.order_id" }',
    (value) => isObject(value) && Object.values(value).every((field) => [field].flat().every(text.fits)),
  ),
  contentGuard: choice('review', 'accept', 'reject'),
  tolerance: duration(1, 366 * 86_400_000),
  mayBeSilent: flag,
  retention: anyValue,
} satisfies Record<keyof SourceOptions, Rule>

const schemeRules: Readonly<Record<string, Rule>> = {
  publicUrl: rule(
    'the whole URL that the sender calls, such as "https://example.com/webhooks/x"',
    (value) => typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value),
  ),
  fetch: callable,
  apiKey: either(text, callable),
  baseUrl: text,
  reconcile: shape({
    every: required(duration(1, 30 * DAY_MS)),
    window: duration(1, 30 * DAY_MS),
  } satisfies Record<keyof ReconcileTimes, Rule>),
  getKey: callable,
}

/** Renames aliases. An unknown option throws here, before a missing one is reported. */
export function namedOptions(
  provider: string,
  input: unknown,
  credentials: readonly string[],
  others: readonly string[],
  aliases: Aliases = {},
): Readonly<Record<string, unknown>> {
  if (input !== undefined && (typeof input !== 'object' || input === null || Array.isArray(input))) {
    const problem = `must be an object, such as ${provider}({ ${credentials[0] ?? 'mode'}: ... })`
    throw new HookonceError('OPTION_INVALID', { provider, option: '(all)', problem })
  }
  const options: Record<string, unknown> = {}
  const names = [...credentials, ...others, ...Object.keys(sourceRules)]
  for (const [option, value] of Object.entries(input ?? {})) {
    const alias = Object.hasOwn(aliases, option) ? aliases[option]! : null
    if (alias === null && !names.includes(option)) {
      const near = nearest(option, [...names, ...Object.keys(aliases)]) ?? missing(credentials, input!)
      const suggestion = near === undefined ? '' : ` Did you mean "${near}"?`
      throw new HookonceError('OPTION_UNKNOWN', { provider, option, suggestion, known: names.join(', ') })
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

/** If the secret is missing, an unknown name without a similar one was probably meant for it. */
function missing(credentials: readonly string[], input: object): string | undefined {
  return credentials.some((name) => (input as Record<string, unknown>)[name] !== undefined)
    ? undefined
    : credentials[0]
}

/** Adds defaults; throws on a missing or malformed option. */
export function checkOptions(
  provider: string,
  input: Readonly<Record<string, unknown>>,
  rules: OptionRules,
  otherNames: readonly string[],
): Readonly<Record<string, unknown>> {
  const defaults = Object.entries(rules).map(([option, rule]) => [option, input[option] ?? rule.default])
  const options: Record<string, unknown> = { ...input, ...Object.fromEntries(defaults) }
  const others = Object.fromEntries(otherNames.map((name) => [name, schemeRules[name] ?? anyValue]))
  const added = Object.entries(rules).map(([option, rule]) => [option, addedRule(rule)])
  const all = { ...others, ...Object.fromEntries(added), ...sourceRules }
  const [wrong] = optionProblems('', options, shape(all))
  if (wrong === undefined) return options
  throw new HookonceError('OPTION_INVALID', { provider, option: wrong.what, problem: wrong.problem })
}

function addedRule({ what, list, form, required: isRequired }: OptionRule): Rule {
  const texts = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(text.fits)
  const added = rule(
    `text${list ? ' or a list of texts' : ''}: ${what}`,
    (value) =>
      (text.fits(value) && (form === undefined || form.test(value as string))) ||
      (list === true && texts(value)),
  )
  return isRequired ? required(added) : added
}
