/** Names as the log can hold them. `store-input.ts` refuses others, so everything that intake makes goes through here. */
import { createHash } from 'node:crypto'
import { limits } from '../../model.js'
import type { Reading } from './reading.js'

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are exactly what the log refuses
const CONTROL = /[\u0000-\u001f\u007f]/g

export function sha256(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

/** A long text becomes its hash, which is as distinct. */
export function withinLimit(text: string): string {
  return Buffer.byteLength(text) > limits.eventIdBytes ? sha256(text) : text
}

/**
 * A name made of the signed content and the signed time; in a delivery with parts also of the position. The whole
 * delivery counts, not the part alone: equal parts of two deliveries may be two events. Undefined where no content
 * was signed, or where the JSON is nested deeper than anything that may be parsed later.
 */
export function signedName(reading: Reading): string | undefined {
  const { naming, timestamp } = reading.opened
  if (naming === null || reading.tooDeep) return undefined
  const digest = createHash('sha256').update(JSON.stringify([timestamp ?? null, reading.part]))
  for (const chunk of naming) digest.update(chunk)
  return `sha256:${digest.digest('hex')}`
}

/**
 * The id as it is, where the log can hold it. An id that is too long or has control characters or half a character
 * becomes its hash where the delivery is signed: the sender sent it, and would send it again.
 */
export function eventName(id: string | undefined, reading: Reading): string | undefined {
  if (id === undefined || id === '') return undefined
  if (Buffer.byteLength(id) <= limits.eventIdBytes && id.isWellFormed() && id.search(CONTROL) < 0) return id
  // As JSON, in which half a character is written out: two ids never become one.
  return reading.opened.naming === null ? undefined : sha256(JSON.stringify(id))
}

/** Null when there is none. Unfit characters are replaced and the rest is cut: a type never refuses an event. */
export function typeText(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const clean = text.toWellFormed().replace(CONTROL, '\ufffd')
  if (Buffer.byteLength(clean) <= limits.eventTypeBytes) return clean
  return cut(clean, limits.eventTypeBytes)
}

/** Null when there is none. A long one becomes its hash: two of them must not fall into one lane. */
export function referenceText(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  return withinLimit(text.toWellFormed().replace(CONTROL, '\ufffd'))
}

/** At most this many bytes of UTF-8, without half a character at the end. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true })
}
