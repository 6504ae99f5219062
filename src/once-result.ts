/**
 * The result of `once` as the text that is kept: JSON, or, when the result cannot be kept, a mark and the reason. An
 * effect that has run is recorded as finished either way, so that it is never run again because of its result.
 */
import { HookonceError } from './errors.js'

/** No JSON text begins with it. */
const NOT_KEPT = '!'

/** The text to keep. Never throws, whatever the result is. */
export function keptText(result: unknown, maxBytes: number): string {
  let text: string | undefined
  try {
    text = JSON.stringify(result ?? null)
  } catch {
    // A BigInt, a cycle, a toJSON that throws, or more text than a string can hold.
  }
  if (typeof text !== 'string') return `${NOT_KEPT}it cannot be written as JSON`
  const bytes = Buffer.byteLength(text)
  return bytes <= maxBytes ? text : `${NOT_KEPT}it has ${bytes} bytes as JSON, and ${maxBytes} can be kept`
}

/** What `what` returned when it ran; throws RESULT_NOT_KEPT when that is not known any more. */
export function keptResult(what: string, text: string): unknown {
  insistOnKept(what, text)
  return JSON.parse(text)
}

export function insistOnKept(what: string, text: string): void {
  if (text.startsWith(NOT_KEPT))
    throw new HookonceError('RESULT_NOT_KEPT', { what, problem: text.slice(NOT_KEPT.length) })
}
