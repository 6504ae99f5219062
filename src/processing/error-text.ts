/** Any thrown thing as text, before it is redacted: names and messages, never a property of the application's own. */

/** Names that say nothing: the plain one, and our own, whose messages are whole sentences. */
const quietNames = new Set(['Error', 'PermanentFailure', 'RetryAfter', 'Postponed', 'HookonceError'])
const CAUSES = 3
/** How deep errors inside of errors are followed: an AggregateError may hold itself. */
const DEPTH = 3
/** Of one text; more is neither kept nor worth the time to search it. */
const CHARACTERS = 131_072

/** The error, what caused it, and what an AggregateError gathers, a few of each. */
export function describeError(error: unknown): string {
  const parts: string[] = []
  const seen = new Set<unknown>()
  let here: unknown = wrapped(error)
  while (here !== undefined && !seen.has(here) && parts.length <= CAUSES) {
    seen.add(here)
    parts.push(one(here))
    here = read(here, 'cause')
  }
  return parts.filter((part) => part !== '').join('; caused by ')
}

/** The lines of the stack that say where, without the message that stands above them. */
export function stackOf(error: unknown): string {
  const stack = read(wrapped(error), 'stack')
  if (typeof stack !== 'string') return ''
  return stack
    .slice(0, CHARACTERS)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
}

/** What both databases keep: no NUL, no half of a character. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

export function cut(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  if (most < 12) return ''
  return `${Buffer.from(text)
    .subarray(0, most - 8)
    .toString('utf8')
    .replace(/\ufffd+$/, '')} …`
}

/** `permanent(error)` and its like only wrap: what they wrap is told. */
function wrapped(error: unknown): unknown {
  const name = read(error, 'name')
  if (name !== 'PermanentFailure' && name !== 'RetryAfter') return error
  return read(error, 'cause') ?? error
}

function one(error: unknown, depth = 0): string {
  if (!isError(error)) return asText(error)
  const name = asText(read(error, 'name'))
  const message = asText(read(error, 'message'))
  const inside = depth < DEPTH ? gathered(error, depth + 1) : ''
  const whole = [message, inside].filter((part) => part !== '').join(': ')
  if (quietNames.has(name)) return whole
  return whole === '' ? name : `${name}: ${whole}`
}

/** What an AggregateError holds. */
function gathered(error: unknown, depth: number): string {
  try {
    const errors = read(error, 'errors')
    if (!Array.isArray(errors)) return ''
    return Array.from(errors.slice(0, CAUSES), (inner) => one(inner, depth)).join(', ')
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

/** Anything can be thrown, also what cannot be read or turned into text. */
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
    return String(value).slice(0, CHARACTERS)
  } catch {
    return 'something that is not an error was thrown'
  }
}
