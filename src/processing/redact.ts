/**
 * What an error says is written down for operators to read, so nothing of the payload, no secret and nothing the
 * application calls private may be in it (I8). Everything here is bounded: a text is cut before patterns see it.
 */
import { invalid } from '../errors.js'
import { type ClaimedEvent, limits } from '../model.js'
import type { Source } from '../provider.js'
import { asText, cut, describeError, stackOf, storable } from './error-text.js'
import { asHandledEvent } from './event.js'
import { withoutCredentials } from './failure.js'
import { MASK, markRuns, markValue, masked } from './marks.js'
import { parsePath, textsIn, valuesAt } from './payload-values.js'

export interface RedactOptions {
  /** Places in the payload whose values never appear: `customer.email`, `*.card.number`, `items[].buyer`, `**.iban`. */
  readonly paths?: readonly string[]
  /** Texts, or regular expressions, that are masked. They see at most 16,384 characters. */
  readonly patterns?: readonly (string | RegExp)[]
  /** Runs of so many characters that also occur in a text of the payload are masked. Default 16; 0 = they are not. */
  readonly excerptLength?: number
  /** Bytes of a message, at most. Default, and most, 8,192. */
  readonly maxMessage?: number
  /** Whether the places in the code are kept too. Default false. */
  readonly stack?: boolean
  /** Bytes of a stack, at most. Default 2,048. */
  readonly maxStack?: number
}

export interface Redactor {
  /** An error of an attempt, as it may be stored and logged. */
  error(error: unknown, claimed: ClaimedEvent): string
  /** The same for a reason to ignore. */
  reason(reason: string, claimed: ClaimedEvent): string
}

const READ_CHARACTERS = 65_536
const PATTERN_CHARACTERS = 16_384
/** At the end of a text that was cut there may be the first half of something. */
const CUT_CHARACTERS = 256
const EXCERPT_LENGTH = 16
/** Of a value at one of the paths, less is too much. */
const PRIVATE_LENGTH = 8

export function createRedactor(given: RedactOptions, sources: ReadonlyMap<string, Source>): Redactor {
  const options = checked(given)
  const paths = (options.paths ?? []).map(parsePath)
  const patterns = (options.patterns ?? []).map(asPattern)
  const excerptLength = options.excerptLength ?? EXCERPT_LENGTH
  const maxMessage = options.maxMessage ?? limits.errorBytes

  /** Secrets, then values of the payload, then patterns, then what looks like a credential. */
  function clean(text: string, claimed: ClaimedEvent): string {
    let rest = storable(text).slice(0, READ_CHARACTERS)
    const wasCut = text.length > READ_CHARACTERS
    for (const source of sources.values()) rest = source.conceal?.(rest) ?? rest
    const marks = new Uint8Array(rest.length)
    const payload = payloadOf(claimed, sources)
    const privates = paths.flatMap((path) => valuesAt(payload, path))
    const lower = rest.toLowerCase()
    for (const value of privates) for (const form of formsOf(value)) markValue(rest, lower, form, marks)
    markRuns(rest, privates, PRIVATE_LENGTH, marks)
    if (excerptLength > 0) markRuns(rest, excerpts(payload, claimed), excerptLength, marks)
    if (wasCut) marks.fill(1, rest.length - CUT_CHARACTERS)
    rest = masked(rest, marks)
    const seen = withoutCredentials(patterns.reduce(hide, rest.slice(0, PATTERN_CHARACTERS)))
    return rest.length > PATTERN_CHARACTERS ? seen.slice(0, -CUT_CHARACTERS) : seen
  }

  return {
    error(error, claimed) {
      const text = clean(describeError(error), claimed)
      const message = cut(text === '' ? 'an error without a message' : text, maxMessage)
      if (!options.stack) return message
      const stack = cut(clean(stackOf(error), claimed), options.maxStack ?? 2_048)
      return cut(`${message}\n${stack}`.trimEnd(), limits.errorBytes)
    },
    reason(reason, claimed) {
      const text = clean(asText(reason), claimed)
      return cut(text === '' ? 'no reason given' : text, Math.min(maxMessage, limits.reasonBytes))
    },
  }
}

function hide(text: string, pattern: RegExp): string {
  return text.replace(pattern, MASK)
}

/** The texts of the payload, but for what the log shows anyway. */
function excerpts(payload: unknown, { eventId, eventType, reference }: ClaimedEvent): string[] {
  return textsIn(payload).filter((text) => text !== eventId && text !== eventType && text !== reference)
}

/** A value may have been written as JSON or into a URL. */
function formsOf(value: string): Set<string> {
  return new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())])
}

/** Null where it cannot be read: then there is nothing to compare with. */
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

function checked(options: RedactOptions): RedactOptions {
  const known = ['paths', 'patterns', 'excerptLength', 'maxMessage', 'stack', 'maxStack']
  for (const name of Object.keys(options))
    if (!known.includes(name))
      throw invalid(`redact.${name}`, `is not an option; known options: ${known.join(', ')}`)
  for (const path of options.paths ?? [])
    if (typeof path !== 'string' || parsePath(path).length === 0)
      throw invalid('redact.paths', 'must hold paths such as customer.email or *.card.number')
  for (const pattern of options.patterns ?? []) {
    const isPattern = pattern instanceof RegExp || typeof pattern === 'string'
    if (!isPattern || asPattern(pattern).test(''))
      throw invalid(
        'redact.patterns',
        'must hold texts or regular expressions that do not match the empty text',
      )
  }
  for (const name of ['excerptLength', 'maxMessage', 'maxStack'] as const) {
    const value = options[name] ?? 64
    const least = name === 'maxMessage' ? 64 : 0
    if (!Number.isInteger(value) || value < least || value > limits.errorBytes)
      throw invalid(
        `redact.${name}`,
        `must be a whole number from ${least} to ${limits.errorBytes}, not ${value}`,
      )
  }
  return options
}
