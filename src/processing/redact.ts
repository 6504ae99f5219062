/**
 * Redaction. Error texts are stored, logged and shown to operators, so these are masked in them: secrets of the sources,
 * values at configured paths of the payload, configured patterns, and text that looks like a credential.
 */
import { type ClaimedEvent, followedSource, limits } from '../model.js'
import { checkOptions, flag, listOf, type Rule, rule, shape } from '../options.js'
import type { Source } from '../provider.js'
import { asText, cut, describeError, placeOf, stackOf, storable, withoutCredentials } from './error-text.js'
import { asHandledEvent } from './payload.js'
import { MASK, parsePath, valuesAt, withoutValues } from './private-values.js'

export interface RedactOptions {
  /** Paths in the payload whose values are masked: `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`. */
  readonly paths?: readonly string[]
  /** Texts or regular expressions that are masked. */
  readonly patterns?: readonly (string | RegExp)[]
  /** Whether the stack is stored too. Default false. */
  readonly stack?: boolean
}

export interface Redactor {
  error(error: unknown, claimed: ClaimedEvent): string
  reason(reason: string, claimed: ClaimedEvent): string
  /** The line of code that threw the error. Empty when it is unknown. */
  place(error: unknown, claimed: ClaimedEvent): string
}

/** More would not be stored. */
const MAX_CHARACTERS = 16_384
/** A text that was cut may end with the first half of a secret, so its last characters are removed. */
const CUT_CHARACTERS = 256
const MAX_STACK_BYTES = 2_048
const WITHHELD = 'the text was withheld, because the payload has too many private values to look for'

export function createRedactor(options: RedactOptions, sources: ReadonlyMap<string, Source>): Redactor {
  checkOptions('redact', options, redactRule)
  const paths = (options.paths ?? []).map(parsePath)
  const patterns = (options.patterns ?? []).map(asPattern)

  function clean(text: string, claimed: ClaimedEvent): string {
    const wasCut = text.length > MAX_CHARACTERS
    let rest = storable(text.slice(0, MAX_CHARACTERS))
    for (const source of sources.values()) rest = source.conceal?.(rest) ?? rest
    if (paths.length > 0) {
      const values = valuesAt(payloadOf(claimed, sources), paths)
      const hidden = values && withoutValues(rest, values, wasCut)
      if (hidden === null) return WITHHELD
      rest = hidden
    }
    rest = withoutCredentials(patterns.reduce(hide, rest))
    return wasCut ? rest.slice(0, -CUT_CHARACTERS) : rest
  }

  return {
    error(error, claimed) {
      const text = clean(describeError(error), claimed)
      const message = cut(text === '' ? 'an error without a message' : text, limits.errorBytes)
      if (!options.stack) return message
      const stack = cut(clean(stackOf(error), claimed), MAX_STACK_BYTES)
      return cut(`${message}\n${stack}`.trimEnd(), limits.errorBytes)
    },
    place: (error, claimed) => cut(clean(placeOf(error), claimed), limits.placeBytes),
    reason(reason, claimed) {
      const text = clean(asText(reason), claimed)
      return cut(text === '' ? 'no reason given' : text, limits.reasonBytes)
    },
  }
}

function hide(text: string, pattern: RegExp): string {
  return text.replace(pattern, MASK)
}

/** A payload that cannot be read has no values at any path: null. */
function payloadOf(claimed: ClaimedEvent, sources: ReadonlyMap<string, Source>): unknown {
  const source = sources.get(followedSource(claimed.source))
  if (!source || claimed.body === null) return null
  try {
    return asHandledEvent(source, claimed, claimed.body).payload
  } catch {
    return null
  }
}

function asPattern(pattern: string | RegExp): RegExp {
  if (typeof pattern === 'string') return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'gi')
  const flags = pattern.flags.replace(/[gy]/g, '')
  return new RegExp(pattern.source, `${flags}g`)
}

export const redactRule = shape({
  paths: listOf(
    rule(
      'a path such as customer.email or *.card.number',
      (path) => typeof path === 'string' && parsePath(path).length > 0,
    ),
  ),
  patterns: listOf(
    rule(
      'text or a regular expression that does not match the empty text',
      (pattern) => (pattern instanceof RegExp || typeof pattern === 'string') && !asPattern(pattern).test(''),
    ),
  ),
  stack: flag,
} satisfies Record<keyof RedactOptions, Rule>)
