/** Ids, types and references in a form that the log accepts. */
import { createHash } from 'node:crypto'
import { sha256 } from '../../digest.js'
import { limits } from '../../model.js'
import type { Reading } from './reading.js'

// biome-ignore lint/suspicious/noControlCharactersInRegex: the log rejects exactly these characters
const CONTROL = /[\u0000-\u001f\u007f]/g

export function hashName(content: string | Uint8Array): string {
  return `sha256:${sha256(content).toString('hex')}`
}

export function withinLimit(text: string): string {
  return Buffer.byteLength(text) > limits.eventIdBytes ? hashName(text) : text
}

/**
 * An id made of the signed content of the whole delivery, the signed time and the position of the slice: equal slices of
 * two deliveries may be two events. Undefined when no content is signed.
 */
export function signedName(reading: Reading): string | undefined {
  const { naming, timestamp } = reading.signedData
  if (naming === null) return undefined
  const digest = createHash('sha256').update(JSON.stringify([timestamp ?? null, reading.slice]))
  for (const chunk of naming) digest.update(chunk)
  return `sha256:${digest.digest('hex')}`
}

/**
 * An id that is too long, or has control characters or half a surrogate pair, becomes its hash if the delivery is signed:
 * a retry of the sender has the same one.
 */
export function eventName(id: string | undefined, reading: Reading): string | undefined {
  if (id === undefined || id === '') return undefined
  if (Buffer.byteLength(id) <= limits.eventIdBytes && id.isWellFormed() && id.search(CONTROL) < 0) return id
  // JSON escapes half a surrogate pair, so two different ids have different hashes.
  return reading.signedData.naming === null ? undefined : hashName(JSON.stringify(id))
}

/** Control characters are replaced and a long text is cut: a type never rejects an event. */
export function typeText(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  const clean = text.toWellFormed().replace(CONTROL, '\ufffd')
  if (Buffer.byteLength(clean) <= limits.eventTypeBytes) return clean
  return cut(clean, limits.eventTypeBytes)
}

/** A long reference becomes its hash: two references that were cut could be equal. */
export function referenceText(text: string | undefined): string | null {
  if (text === undefined || text === '') return null
  return withinLimit(text.toWellFormed().replace(CONTROL, '\ufffd'))
}

/** Leaves no incomplete character at the end. */
function cut(text: string, bytes: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes), { stream: true })
}
