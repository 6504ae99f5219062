/**
 * Form encoding, strictly: URLSearchParams turns every byte sequence that is not UTF-8 into U+FFFD, so that two
 * different bodies would read (and verify) alike. Here such input has no reading.
 */
import { isUtf8 } from 'node:buffer'

export type Pairs = readonly (readonly [name: string, value: string])[]

const maxPairs = 1_000

/** The pairs in order, or null when the text is not form encoding of UTF-8. */
export function parseForm(bytes: Uint8Array): Pairs | null {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(raw)) return null
  return parsePairs(raw.toString('utf8'))
}

export function parsePairs(text: string): Pairs | null {
  if (text === '') return []
  const parts = text.split('&', maxPairs + 1)
  if (parts.length > maxPairs) return null
  const pairs: [string, string][] = []
  for (const part of parts) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = decode(equals < 0 ? part : part.slice(0, equals))
    const value = decode(equals < 0 ? '' : part.slice(equals + 1))
    if (name === null || value === null) return null
    pairs.push([name, value])
  }
  return pairs
}

/** The one value of a name: undefined when absent, null when there are several and none of them can be meant. */
export function single(pairs: Pairs, name: string): string | undefined | null {
  let found: string | undefined
  for (const [key, value] of pairs) {
    if (key !== name) continue
    if (found !== undefined) return null
    found = value
  }
  return found
}

export function encodePairs(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')
}

export function isForm(contentType: string | undefined): boolean {
  return mediaType(contentType) === 'application/x-www-form-urlencoded'
}

export function mediaType(contentType: string | undefined): string {
  const text = contentType ?? ''
  const semicolon = text.indexOf(';')
  return (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase()
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll('%20', '+')
}

function decode(text: string): string | null {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return null
  }
}
