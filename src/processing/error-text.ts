/** Anything that was thrown, as text without stacks: names and messages, never other properties. `redact.ts` redacts it. */
import { limits } from '../model.js'

/** These names are not shown: the messages of our own errors are whole sentences. */
const omittedNames = new Set(['Error', 'PermanentFailure', 'RetryAfter', 'Postponed', 'HookonceError'])
const MAX_CAUSES = 3
const MAX_DEPTH = 3 // an AggregateError may contain itself
/** Longer text would not be stored, and takes long to search. */
const MAX_CHARACTERS = 131_072
const MAX_PLACE_CHARACTERS = 500

/** Text of an error that may be stored without an event. Where there is an event, `redact.ts` masks more. */
export function textOf(error: unknown): string {
  const text = withoutCredentials(storable(describeError(error)).slice(0, 2 * limits.errorBytes))
  return cut(text === '' ? 'an error without a message' : text, limits.errorBytes)
}

export function describeError(error: unknown): string {
  const texts: string[] = []
  const seen = new Set<unknown>()
  let current: unknown = unwrapped(error)
  while (current !== undefined && !seen.has(current) && texts.length <= MAX_CAUSES) {
    seen.add(current)
    texts.push(nameAndMessage(current))
    current = read(current, 'cause')
  }
  return texts.filter((text) => text !== '').join('; caused by ')
}

export function stackOf(error: unknown): string {
  const inner = unwrapped(error)
  const stack = read(inner, 'stack')
  if (typeof stack !== 'string') return ''
  return withoutMessage(stack, read(inner, 'message'))
    .slice(0, MAX_CHARACTERS)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}

/** A message may have lines that look like places, and may quote a payload. */
function withoutMessage(stack: string, message: unknown): string {
  if (typeof message !== 'string' || message === '') return stack
  const at = stack.indexOf(message)
  return at < 0 ? stack : stack.slice(at + message.length)
}

/** Returns the first place in the application's own code, else in a library. Empty without a stack. */
export function placeOf(error: unknown): string {
  const places = stackOf(error)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /:\d+:\d+\)?$/.test(line))
  const own = places.find((place) => !/[(\s]node:|[\\/]node_modules[\\/]/.test(place))
  return (own ?? places[0] ?? '').slice(0, MAX_PLACE_CHARACTERS)
}

/** Masks text that looks like a credential, and the text that JSON.parse quotes. */
export function withoutCredentials(text: string): string {
  return withoutQuotedJson(text)
    .replace(/\b(whsec|sk|rk|pk|gh[pousr]|github_pat)_[A-Za-z0-9_-]{8,}/g, '$1_***')
    .replace(/\b(xox[a-z]|xapp)-[A-Za-z0-9-]{8,}/g, '$1-***')
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 ***')
    .replace(/(\/\/[^/\s:@]+):[^@\s/]+@/g, '$1:***@')
}

function withoutQuotedJson(text: string): string {
  const ending = 'is not valid JSON'
  const start = text.indexOf('Unexpected token ')
  const end = text.lastIndexOf(ending)
  if (start < 0 || end < start) return text
  return `${text.slice(0, start)}the text is not valid JSON${text.slice(end + ending.length)}`
}

/** Text that both databases accept: no NUL, no half of a surrogate pair. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

export function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  if (maxBytes < 12) return ''
  return `${Buffer.from(text)
    .subarray(0, maxBytes - 8)
    .toString('utf8')
    .replace(/\ufffd+$/, '')} …`
}

/** `permanent(error)` and `retryAfter(ms, error)` only wrap an error: that one is described. */
function unwrapped(error: unknown): unknown {
  const name = read(error, 'name')
  if (name !== 'PermanentFailure' && name !== 'RetryAfter') return error
  return read(error, 'cause') ?? error
}

function nameAndMessage(error: unknown, depth = 0): string {
  if (!isError(error)) return asText(error)
  const name = asText(read(error, 'name'))
  const message = asText(read(error, 'message'))
  const inner = depth < MAX_DEPTH ? innerErrors(error, depth + 1) : ''
  const text = [message, inner].filter((piece) => piece !== '').join(': ')
  if (omittedNames.has(name)) return text
  return text === '' ? name : `${name}: ${text}`
}

function innerErrors(error: unknown, depth: number): string {
  try {
    const errors = read(error, 'errors')
    if (!Array.isArray(errors)) return ''
    return Array.from(errors.slice(0, MAX_CAUSES), (inner) => nameAndMessage(inner, depth)).join(', ')
  } catch {
    return ''
  }
}

function isError(value: unknown): boolean {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

/** Any value can be thrown, even a proxy whose properties cannot be read. */
function read(value: unknown, property: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    return (value as Record<string, unknown>)[property]
  } catch {
    return undefined
  }
}

export function asText(value: unknown): string {
  try {
    return String(value).slice(0, MAX_CHARACTERS)
  } catch {
    return 'something that is not an error was thrown'
  }
}
