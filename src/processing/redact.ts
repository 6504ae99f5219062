/**
 * Redaction. The text of an error is stored and shown to operators, so it must not contain a secret, a part of the payload,
 * or a value that the application has declared private (I8). A text is cut before patterns search it.
 */
import { type ClaimedEvent, limits } from '../model.js'
import { checkOptions, flag, listOf, type Rule, rule, shape, whole } from '../options.js'
import type { Source } from '../provider.js'
import { asText, cut, describeError, placeOf, stackOf, storable, withoutCredentials } from './error-text.js'
import { hideExcerpts, hideValues, MASK, masked, parsePath, stringsIn, valuesAt } from './mask.js'
import { asHandledEvent } from './payload.js'

export interface RedactOptions {
  /** Paths in the payload whose values are masked: `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`. */
  readonly paths?: readonly string[]
  /** Texts or regular expressions that are masked. They are applied to the first 16,384 characters. */
  readonly patterns?: readonly (string | RegExp)[]
  /** Runs of at least this many characters that also occur in a string of the payload are masked. Default 16; 0 = never. */
  readonly excerptLength?: number
  /** Largest message in bytes. Default 8,192, which is also the maximum. */
  readonly maxMessage?: number
  /** Whether the stack is stored too. Default false. */
  readonly stack?: boolean
  /** Largest stack in bytes. Default 2,048. */
  readonly maxStack?: number
}

export interface Redactor {
  /** The text of an error that may be stored and logged. */
  error(error: unknown, claimed: ClaimedEvent): string
  /** The same for the reason of `ctx.ignore`. */
  reason(reason: string, claimed: ClaimedEvent): string
  /** The place in the code that threw the error, for the log. Empty when it is unknown. */
  place(error: unknown, claimed: ClaimedEvent): string
}

const MAX_CHARACTERS = 65_536
const MAX_PATTERN_CHARACTERS = 16_384
/** A text that was cut may end with the first half of a secret, so its last characters are masked. */
const CUT_CHARACTERS = 256
const EXCERPT_LENGTH = 16

export function createRedactor(options: RedactOptions, sources: ReadonlyMap<string, Source>): Redactor {
  checkOptions('redact', options, redactRule)
  const paths = (options.paths ?? []).map(parsePath)
  const patterns = (options.patterns ?? []).map(asPattern)
  const excerptLength = options.excerptLength ?? EXCERPT_LENGTH
  const maxMessage = options.maxMessage ?? limits.errorBytes

  /** Masks the secrets of the sources, then values of the payload, then patterns, then text that looks like a credential. */
  function clean(text: string, claimed: ClaimedEvent): string {
    let rest = storable(text).slice(0, MAX_CHARACTERS)
    const wasCut = text.length > MAX_CHARACTERS
    for (const source of sources.values()) rest = source.conceal?.(rest) ?? rest
    const hidden = new Uint8Array(rest.length)
    const payload = payloadOf(claimed, sources)
    const privates = paths.flatMap((path) => [...valuesAt(payload, path)].flatMap(formsOf))
    hideValues(rest, privates, hidden)
    if (excerptLength > 0) hideExcerpts(rest, excerpts(payload, claimed), excerptLength, hidden)
    if (wasCut) hidden.fill(1, rest.length - CUT_CHARACTERS)
    rest = masked(rest, hidden)
    const seen = withoutCredentials(patterns.reduce(hide, rest.slice(0, MAX_PATTERN_CHARACTERS)))
    return rest.length > MAX_PATTERN_CHARACTERS ? seen.slice(0, -CUT_CHARACTERS) : seen
  }

  return {
    error(error, claimed) {
      const text = clean(describeError(error), claimed)
      const message = cut(text === '' ? 'an error without a message' : text, maxMessage)
      if (!options.stack) return message
      const stack = cut(clean(stackOf(error), claimed), options.maxStack ?? 2_048)
      return cut(`${message}\n${stack}`.trimEnd(), limits.errorBytes)
    },
    place: (error, claimed) => clean(placeOf(error), claimed),
    reason(reason, claimed) {
      const text = clean(asText(reason), claimed)
      return cut(text === '' ? 'no reason given' : text, Math.min(maxMessage, limits.reasonBytes))
    },
  }
}

function hide(text: string, pattern: RegExp): string {
  return text.replace(pattern, MASK)
}

/** The strings of the payload, without those that the log shows in any case. */
function excerpts(payload: unknown, { eventId, eventType, reference }: ClaimedEvent): string[] {
  return [...stringsIn(payload)].filter(
    (text) => text !== eventId && text !== eventType && text !== reference,
  )
}

/** A value may stand in the text as it is, inside JSON or inside a URL. */
function formsOf(value: string): string[] {
  return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())]
}

/** Null when the payload cannot be read: nothing is compared with it then. */
function payloadOf(claimed: ClaimedEvent, sources: ReadonlyMap<string, Source>): unknown {
  const source = sources.get(claimed.source)
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
  excerptLength: whole(0, limits.errorBytes),
  maxMessage: whole(64, limits.errorBytes),
  stack: flag,
  maxStack: whole(0, limits.errorBytes),
} satisfies Record<keyof RedactOptions, Rule>)
