/**
 * Reads JSON in one pass over its bytes: checks the grammar and returns the values at the requested paths as tokens. It
 * builds no objects and never throws. JSON.parse blocks for seconds on deep nesting, rounds 64-bit ids, takes the last of
 * two equal keys, and hides bytes that are not UTF-8.
 *
 * Paths: `id`, `data.object.id`, `items.0.id`, `events[].id` (each element), `payload.*.id` (each member),
 * `` (the whole text). A dot inside a key is written `\.`.
 */
import { isUtf8 } from 'node:buffer'
import { compilePaths, type PathNode } from './json-path.js'
import { afterSpace, endOfPlain, endOfString, endOfValue } from './json-scan.js'

export interface JsonToken {
  readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'
  /** A string is unescaped; a number keeps all its digits; an object or array has an empty text. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** The key of the value, if the last step of the path was `*`. */
  readonly key: string | null
}

/** `values[i]` has the tokens of path `i` in document order: at most one, unless the path has `[]` or `*`. */
export type JsonResult =
  | { readonly ok: true; readonly values: readonly (readonly JsonToken[])[] }
  | { readonly ok: false; readonly reason: 'not_json' | 'ambiguous' }

export interface JsonQuery {
  read(bytes: Uint8Array): JsonResult
}

/** A test compares it with the size of a delivery. */
export const scanned = { bytes: 0 }

/** Only an invalid path throws. */
export function jsonQuery(paths: readonly string[]): JsonQuery {
  const root = compilePaths(paths)
  return {
    read(bytes) {
      scanned.bytes += bytes.byteLength
      const reader = new JsonReader(bytes, paths.length)
      const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
      const end = reader.value(root, null, afterSpace(bytes, hasMark ? 3 : 0))
      if (end === AMBIGUOUS) return { ok: false, reason: 'ambiguous' }
      if (end < 0 || afterSpace(bytes, end) < bytes.length) return { ok: false, reason: 'not_json' }
      return { ok: true, values: reader.values }
    },
  }
}

const NOT_JSON = -1
/** Two values have one wanted name: parsers disagree on which of them is used. */
const AMBIGUOUS = -2

let objectCount = 0

/**
 * Every method returns the index after the value, or one of the two codes above. The recursion follows the paths and not
 * the text, so it is never deeper than a path has steps; `endOfValue` skips all that no path leads into.
 */
class JsonReader {
  readonly values: JsonToken[][] = []
  readonly #bytes: Buffer

  constructor(bytes: Uint8Array, pathCount: number) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let i = 0; i < pathCount; i += 1) this.values.push([])
  }

  value(node: PathNode | null, key: string | null, start: number): number {
    if (node === null) return endOfValue(this.#bytes, start)
    const first = this.#bytes[start]!
    let end: number
    if (first === 0x7b && leadsOn(node)) end = this.#object(node, start)
    else if (first === 0x5b && leadsOn(node)) end = this.#array(node, start)
    else end = endOfValue(this.#bytes, start)
    if (end < 0 || node.slots.length === 0) return end
    const kind = kindOf(first)
    let text: string | null = ''
    if (kind === 'string') text = stringText(this.#bytes, start + 1, end - 1)
    else if (kind !== 'object' && kind !== 'array') text = this.#bytes.toString('latin1', start, end)
    if (text === null) return NOT_JSON
    for (const slot of node.slots) this.values[slot]!.push({ kind, text, start, end, key })
    return end
  }

  #array(node: PathNode, start: number): number {
    const bytes = this.#bytes
    let at = afterSpace(bytes, start + 1)
    if (bytes[at] === 0x5d) return at + 1
    for (let index = 0; ; index += 1) {
      const end = this.value(node.indexes.get(index) ?? node.each, null, at)
      if (end < 0) return end
      at = afterSpace(bytes, end)
      if (bytes[at] === 0x5d) return at + 1
      if (bytes[at] !== 0x2c) return NOT_JSON
      at = afterSpace(bytes, at + 1)
    }
  }

  #object(node: PathNode, start: number): number {
    const bytes = this.#bytes
    let at = afterSpace(bytes, start + 1)
    if (bytes[at] === 0x7d) return at + 1
    objectCount += 1
    const stamp = objectCount
    const names = node.members === null ? null : new Set<string>()
    for (;;) {
      if (bytes[at] !== 0x22) return NOT_JSON
      const found = endOfString(bytes, at + 1)
      if (found === -1) return NOT_JSON
      const keyEnd = found < 0 ? ~found : found
      const colon = afterSpace(bytes, keyEnd + 1)
      if (bytes[colon] !== 0x3a) return NOT_JSON
      const wanted = wantedKey(node, bytes, at + 1, keyEnd, found >= 0)
      let key: string | null = null
      if (wanted !== null) {
        if (wanted.seenIn === stamp) return AMBIGUOUS
        wanted.seenIn = stamp
        key = wanted.name
      } else if (names !== null) {
        key = stringText(bytes, at + 1, keyEnd)
        if (key === null) return NOT_JSON
        if (names.has(key)) return AMBIGUOUS
        names.add(key)
      }
      const end = this.value(wanted === null ? node.members : wanted.node, key, afterSpace(bytes, colon + 1))
      if (end < 0) return end
      at = afterSpace(bytes, end)
      if (bytes[at] === 0x7d) return at + 1
      if (bytes[at] !== 0x2c) return NOT_JSON
      at = afterSpace(bytes, at + 1)
    }
  }
}

function leadsOn({ keys, each, members }: PathNode): boolean {
  return keys.length > 0 || each !== null || members !== null
}

function wantedKey(node: PathNode, bytes: Buffer, start: number, end: number, isPlain: boolean) {
  const { keys } = node
  if (keys.length === 0) return null
  if (!isPlain) {
    const name = stringText(bytes, start, end)
    return keys.find((wanted) => wanted.name === name) ?? null
  }
  const length = end - start
  search: for (const wanted of keys) {
    if (wanted.bytes.length !== length) continue
    for (let i = 0; i < length; i += 1) if (wanted.bytes[i] !== bytes[start + i]) continue search
    return wanted
  }
  return null
}

/** Null if the bytes are not UTF-8. The scanner has checked the escapes. */
function stringText(bytes: Buffer, start: number, end: number): string | null {
  if (endOfPlain(bytes, start) === end) return bytes.toString('latin1', start, end)
  if (!isUtf8(bytes.subarray(start, end))) return null
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text
}

function kindOf(first: number): JsonToken['kind'] {
  if (first === 0x22) return 'string'
  if (first === 0x7b) return 'object'
  if (first === 0x5b) return 'array'
  if (first === 0x74 || first === 0x66) return 'boolean'
  return first === 0x6e ? 'null' : 'number'
}
