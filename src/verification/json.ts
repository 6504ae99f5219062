/**
 * Reads a JSON text in one pass over its bytes: it checks the grammar and returns the values at the requested paths as
 * tokens. It builds no objects and never throws, and nesting costs it one byte of memory for each level. JSON.parse is
 * not used on received bytes: it blocks for seconds on deep nesting, rounds 64-bit ids, takes the last of two equal keys,
 * and hides bytes that are not UTF-8.
 *
 * Paths: `id`, `data.object.id`, `items.0.id`, `events[].id` (each element), `payload.*.id` (each member),
 * `` (the whole text). A dot inside a key is written `\.`.
 */
import { isUtf8 } from 'node:buffer'
import { compilePaths, type PathNode } from './json-path.js'
import { endOfContainer, endOfScalar, endOfString, isSpace, unescapeString } from './json-scan.js'

export type JsonKind = 'string' | 'number' | 'boolean' | 'null' | 'object' | 'array'

export interface JsonToken {
  readonly kind: JsonKind
  /** A string is unescaped; a number keeps all its digits; an object or array has an empty text. */
  readonly text: string
  /** Its raw bytes are `bytes.subarray(start, end)`. */
  readonly start: number
  readonly end: number
  /** The key of the value, if the last step of the path was `*`. */
  readonly key: string | null
}

export type JsonProblem = 'not_json' | 'ambiguous'

/** `values[i]` has the tokens of path `i` in document order: at most one, unless the path has `[]` or `*`. */
export type JsonResult =
  | { readonly ok: true; readonly values: readonly (readonly JsonToken[])[] }
  | { readonly ok: false; readonly reason: JsonProblem }

export interface JsonQuery {
  readonly paths: readonly string[]
  read(bytes: Uint8Array): JsonResult
}

/** The number of bytes that this process has scanned: a test compares it with the size of a delivery. */
export const scanned = { bytes: 0 }

/** Compiles the paths once for many reads. Only an invalid path throws. */
export function jsonQuery(paths: readonly string[]): JsonQuery {
  const root = compilePaths(paths)
  return {
    paths,
    read(bytes) {
      scanned.bytes += bytes.byteLength
      return readJson(bytes, root, paths.length)
    },
  }
}

/** An open object or array that a path leads into, so there are never more frames than steps in a path. */
interface Frame {
  readonly isObject: boolean
  readonly node: PathNode
  readonly start: number
  readonly key: string | null
  /** The number of this object: a wanted key remembers in which object it was last seen. */
  readonly stamp: number
  index: number
  /** The names seen so far; only if every name (`*`) is wanted. */
  names: Set<string> | null
}

const none: readonly JsonToken[] = []
const notJson: JsonResult = { ok: false, reason: 'not_json' }
const ambiguous: JsonResult = { ok: false, reason: 'ambiguous' }
let stamps = 0

function readJson(bytes: Uint8Array, root: PathNode, pathCount: number): JsonResult {
  const end = bytes.length
  const values: JsonToken[][] = []
  const frames: Frame[] = []
  let frame: Frame | null = null
  let node: PathNode | null = root
  let key: string | null = null
  let at = end >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0

  const keep = (slots: readonly number[], token: JsonToken) => {
    for (const slot of slots) {
      const list = values[slot]
      if (list === undefined) values[slot] = [token]
      else list.push(token)
    }
  }

  for (;;) {
    // A value starts at `at`; `node` has the paths that lead to it.
    while (at < end && isSpace(bytes[at]!)) at += 1
    if (at >= end) return notJson
    const first = bytes[at]!
    const start = at
    let open = false
    if (first === 0x22) {
      const found = endOfString(bytes, at + 1)
      if (found === -1) return notJson
      const close = found < 0 ? ~found : found
      at = close + 1
      if (node !== null && node.slots.length > 0) {
        const text = found < 0 ? stringText(bytes, start + 1, close) : ascii(bytes, start + 1, close)
        if (text === null) return notJson
        keep(node.slots, { kind: 'string', text, start, end: at, key })
      }
    } else if (first === 0x7b || first === 0x5b) {
      if (node === null || !leadsOn(node)) {
        at = endOfContainer(bytes, start)
        if (at < 0) return notJson
        if (node !== null) {
          keep(node.slots, { kind: first === 0x7b ? 'object' : 'array', text: '', start, end: at, key })
        }
      } else {
        stamps += 1
        frame = { isObject: first === 0x7b, node, start, key, stamp: stamps, index: 0, names: null }
        frames.push(frame)
        at += 1
        while (at < end && isSpace(bytes[at]!)) at += 1
        if (at >= end) return notJson
        open = bytes[at] !== (frame.isObject ? 0x7d : 0x5d)
      }
    } else {
      at = endOfScalar(bytes, at)
      if (at < 0) return notJson
      if (node !== null && node.slots.length > 0) {
        keep(node.slots, { kind: scalarKind(first), text: ascii(bytes, start, at), start, end: at, key })
      }
    }

    // After a value: close the containers that end here, until a comma.
    while (!open) {
      if (frame === null) {
        while (at < end && isSpace(bytes[at]!)) at += 1
        if (at < end) return notJson
        const found: (readonly JsonToken[])[] = []
        for (let slot = 0; slot < pathCount; slot += 1) found.push(values[slot] ?? none)
        return { ok: true, values: found }
      }
      while (at < end && isSpace(bytes[at]!)) at += 1
      if (at >= end) return notJson
      const next = bytes[at]!
      at += 1
      if (next === 0x2c) {
        frame.index += 1
        open = true
      } else if (next === (frame.isObject ? 0x7d : 0x5d)) {
        const done: Frame = frames.pop()!
        if (done.node.slots.length > 0) {
          const kind = done.isObject ? 'object' : 'array'
          keep(done.node.slots, { kind, text: '', start: done.start, end: at, key: done.key })
        }
        frame = frames.length > 0 ? frames[frames.length - 1]! : null
      } else return notJson
    }

    // Inside a container: find the node of the next value.
    const inside: Frame = frame!
    key = null
    if (!inside.isObject) {
      node = inside.node.indexes.get(inside.index) ?? inside.node.each
      continue
    }
    while (at < end && isSpace(bytes[at]!)) at += 1
    if (at >= end || bytes[at] !== 0x22) return notJson
    const keyStart = at + 1
    const foundEnd = endOfString(bytes, keyStart)
    if (foundEnd === -1) return notJson
    const keyEnd = foundEnd < 0 ? ~foundEnd : foundEnd
    at = keyEnd + 1
    while (at < end && isSpace(bytes[at]!)) at += 1
    if (at >= end || bytes[at] !== 0x3a) return notJson
    at += 1
    node = null
    const wanted = wantedKey(inside.node, bytes, keyStart, keyEnd, foundEnd >= 0)
    if (wanted !== null) {
      // Two values with one wanted name: parsers disagree on which of them is used.
      if (wanted.seenIn === inside.stamp) return ambiguous
      wanted.seenIn = inside.stamp
      node = wanted.node
      key = wanted.name
    } else if (inside.node.members !== null) {
      node = inside.node.members
      key = stringText(bytes, keyStart, keyEnd)
      if (key === null) return notJson
      inside.names ??= new Set()
      if (inside.names.has(key)) return ambiguous
      inside.names.add(key)
    }
  }
}

/** Whether a path leads from this value to a value inside it. */
function leadsOn({ keys, each, members }: PathNode): boolean {
  return keys.length > 0 || each !== null || members !== null
}

function wantedKey(node: PathNode, bytes: Uint8Array, start: number, end: number, isPlain: boolean) {
  const { keys } = node
  if (keys.length === 0) return null
  if (!isPlain) {
    const name = stringText(bytes, start, end)
    return name === null ? null : (keys.find((wanted) => wanted.name === name) ?? null)
  }
  const length = end - start
  search: for (const wanted of keys) {
    if (wanted.bytes.length !== length) continue
    for (let i = 0; i < length; i += 1) if (wanted.bytes[i] !== bytes[start + i]) continue search
    return wanted
  }
  return null
}

/** The text between two quotes; null if its bytes are not UTF-8. */
function stringText(bytes: Uint8Array, start: number, end: number): string | null {
  const slice = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
  if (!isUtf8(slice)) return null
  const text = slice.toString('utf8')
  return text.includes('\\') ? unescapeString(text) : text
}

function ascii(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}

function scalarKind(first: number): 'boolean' | 'null' | 'number' {
  if (first === 0x74 || first === 0x66) return 'boolean'
  return first === 0x6e ? 'null' : 'number'
}
