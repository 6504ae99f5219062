/** Forms, multipart and XML, read strictly and only as far as the rules need them. */
import { isUtf8 } from 'node:buffer'

export type Pairs = readonly (readonly [name: string, value: string])[]

const maxPairs = 1_000
const maxFields = 64

/**
 * Null when the body is not form encoding of UTF-8. URLSearchParams replaces every byte that is not UTF-8 with U+FFFD:
 * two different bodies would read (and verify) alike.
 */
export function parseForm(bytes: Uint8Array): Pairs | null {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(raw)) return null
  return parsePairs(raw.toString('utf8'))
}

export function parsePairs(text: string): Pairs | null {
  if (text === '') return []
  const items = text.split('&', maxPairs + 1)
  if (items.length > maxPairs) return null
  const pairs: [string, string][] = []
  for (const item of items) {
    if (item === '') continue
    const equals = item.indexOf('=')
    const name = decode(equals < 0 ? item : item.slice(0, equals))
    const value = decode(equals < 0 ? '' : item.slice(equals + 1))
    if (name === null || value === null) return null
    pairs.push([name, value])
  }
  return pairs
}

/** Null when there are several values, because none can be preferred. */
export function onlyValue(pairs: Pairs, name: string): string | undefined | null {
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

/** Null when the body is not multipart/form-data, or has the field not exactly once. */
export function multipartField(
  body: Uint8Array,
  contentType: string | undefined,
  name: string,
): Uint8Array | null {
  if (mediaType(contentType) !== 'multipart/form-data') return null
  const boundary = /;\s*boundary=(?:"([^"]{1,70})"|([^\s";]{1,70}))/i.exec(contentType ?? '')
  if (boundary === null) return null
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const delimiter = `--${boundary[1] ?? boundary[2]}`
  let found: Uint8Array | null = null
  let at = bytes.indexOf(delimiter)
  for (let count = 0; at >= 0 && count < maxFields; count += 1) {
    const from = at + delimiter.length + 2
    const next = bytes.indexOf(`\r\n${delimiter}`, from - 2)
    if (next < 0) return found
    const headEnd = bytes.indexOf('\r\n\r\n', from - 2)
    if (headEnd >= 0 && headEnd < next) {
      const own = fieldName(bytes.toString('latin1', from, headEnd))
      if (own === undefined) return null
      if (own === name) {
        if (found !== null) return null
        found = bytes.subarray(headEnd + 4, next)
      }
    }
    at = next + 2
  }
  return found
}

/**
 * `path` is element names with dots, from outside in. This is no parser: it knows the five predefined entities, no DTD
 * (a document with one has no text) and no namespaces. That is enough to read a type and an id that the signature covers.
 */
export function xmlText(xml: string, path: string): string | undefined {
  if (xml.includes('<!DOCTYPE')) return undefined
  let inside = xml
  for (const tag of path.split('.')) {
    const found = element(inside, tag)
    if (found === undefined) return undefined
    inside = found
  }
  return inside.includes('<') ? undefined : decodeEntities(inside.trim())
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

/** Null when the part has no name, undefined when its head can be read in more than one way. */
function fieldName(head: string): string | null | undefined {
  const lines = head.split('\r\n', 16).filter((line) => /^content-disposition:/i.test(line))
  if (lines.length === 0) return null
  const disposition = dispositionPattern.exec(lines[0]!)
  if (disposition === null || lines.length > 1) return undefined
  const names = [...disposition[1]!.matchAll(parameterPattern)].filter(
    ([, key]) => key!.toLowerCase() === 'name',
  )
  if (names.length > 1) return undefined
  return names[0] ? (names[0][2] ?? names[0][3])! : null
}

/**
 * The parameters of Content-Disposition are read from the start of the line, because the quoted name of a file may contain
 * `; name=`. A quote in a quoted value has a backslash before it, else the value ends there.
 */
const parameter = /;[ \t]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"\\]+))[ \t]*/.source
const parameterPattern = new RegExp(parameter, 'g')
const dispositionPattern = new RegExp(`^content-disposition:[ \\t]*[^\\s;"]+[ \\t]*((?:${parameter})*)$`, 'i')

/**
 * The content of the first child element with this name; undefined when the elements before its end are not nested
 * properly. Deeper elements do not count: a Braintree dispute contains its transaction.
 */
function element(xml: string, tag: string): string | undefined {
  const open: string[] = []
  let content = -1
  for (let at = xml.indexOf('<'); at >= 0; at = xml.indexOf('<', at)) {
    const skipped = markupEnd(xml, at)
    if (skipped !== 0) {
      if (skipped < 0) return undefined
      at = skipped
      continue
    }
    const found = tagAt(xml, at)
    if (found === null) return undefined
    const { kind, name, end } = found
    if (kind === 'end') {
      if (open.pop() !== name) return undefined
      if (open.length === 0 && content >= 0) return xml.slice(content, at)
    } else if (kind === 'start') {
      if (open.length === 0 && name === tag) content = end
      open.push(name)
    }
    at = end
  }
  return undefined
}

interface Tag {
  readonly kind: 'start' | 'end' | 'empty'
  readonly name: string
  readonly end: number
}

/**
 * A quoted attribute may contain `>`. Every character is read once: a regular expression would go back over a long name
 * or attribute again and again.
 */
function tagAt(xml: string, at: number): Tag | null {
  const isEnd = xml[at + 1] === '/'
  namePattern.lastIndex = at + (isEnd ? 2 : 1)
  const name = namePattern.exec(xml)?.[0]
  if (name === undefined) return null
  let quote = ''
  for (let i = namePattern.lastIndex; i < xml.length; i += 1) {
    const char = xml[i]!
    if (char === '<') return null
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '>') {
      const kind = isEnd ? 'end' : xml[i - 1] === '/' ? 'empty' : 'start'
      return { kind, name, end: i + 1 }
    }
  }
  return null
}

const namePattern = /[^\s<>/"'=]+/y

/** 0 when there is no comment, CDATA section or instruction at this place, -1 when it has no end. */
function markupEnd(xml: string, at: number): number {
  for (const [start, end] of markup) {
    if (!xml.startsWith(start, at)) continue
    const found = xml.indexOf(end, at + start.length)
    return found < 0 ? -1 : found + end.length
  }
  return 0
}

const markup = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => entities[name] ?? '')
}
