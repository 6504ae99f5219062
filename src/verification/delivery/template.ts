/**
 * Signed content as text with holes: `{timestamp}.{body}`. Holes are fields; besides them `{body}` (the bytes as
 * received, never decoded), `{document}` (the JSON document, where a form field holds it), `{crc32}` of the body,
 * `{sorted-form}` and, with a `?` at the end, fields that may be absent.
 */
import type { Compiler, Evaluate } from './compile.js'
import type { Field, FieldText } from './field.js'
import { isForm, type Pairs } from './form.js'
import type { Reading } from './reading.js'

export type Chunk = string | Uint8Array
/** The chunks to hash in order, or the reason there are none. */
export type SignedContent = (reading: Reading) => readonly Chunk[] | 'missing_field' | 'malformed_body'
/**
 * For senders no template can say. Gets `field` once, to name what it reads (so that the body is scanned once), and
 * gives a function of the reading; null when something it needs is missing or is not to be believed.
 */
export type ContentFunction = (
  field: (field: Field) => Evaluate,
) => (reading: Reading) => readonly Chunk[] | null

type Piece = string | Evaluate | typeof body | typeof document
const body = Symbol('body')
const document = Symbol('document')

export function compileTemplate(template: string | ContentFunction, compiler: Compiler): SignedContent {
  if (typeof template === 'function') {
    const content = template((field) => compiler.field(field))
    return (reading) => {
      const chunks = content(reading)
      if (reading.unreadable) return 'malformed_body'
      return chunks ?? 'missing_field'
    }
  }
  const pieces = compiler
    .fill(template)
    .split(/(\{[^{}]+\})/)
    .filter((text) => text !== '')
    .map((text) => compilePiece(text, compiler))
  return (reading) => {
    const chunks: Chunk[] = []
    for (const piece of pieces) {
      if (typeof piece === 'string') chunks.push(piece)
      else if (piece === body) chunks.push(reading.delivery.body)
      else if (piece === document) chunks.push(reading.document)
      else {
        const value = piece(reading)
        if (value === undefined) return reading.unreadable ? 'malformed_body' : 'missing_field'
        // A lone surrogate has no bytes of its own: two texts would hash alike.
        if (!value.isWellFormed()) return 'malformed_body'
        chunks.push(value)
      }
    }
    return reading.unreadable ? 'malformed_body' : chunks
  }
}

function compilePiece(text: string, compiler: Compiler): Piece {
  if (!text.startsWith('{')) return text
  const name = text.slice(1, -1)
  if (name === 'body') return body
  if (name === 'document') return document
  if (name === 'crc32') return (reading) => String(crc32(reading.delivery.body))
  if (name === 'sorted-form') return sortedForm
  if (name === 'sorted-form?') return (reading) => sortedForm(reading) ?? ''
  if (name.endsWith('?')) {
    const value = compiler.field(name.slice(0, -1) as FieldText)
    return (reading) => value(reading) ?? ''
  }
  return compiler.field(name as FieldText)
}

/**
 * Names and values glued together, sorted by name then value, equal pairs once: the rule of Twilio and Mandrill.
 * A body that is not a form would go unsigned, so it has no such text; with `?` something else must cover it.
 */
export function sortedForm(reading: Reading): string | undefined {
  if (!isForm(reading.header('content-type'))) return reading.delivery.body.length === 0 ? '' : undefined
  const pairs: Pairs = reading.formPairs
  const unique = new Map(pairs.map((pair) => [JSON.stringify(pair), pair]))
  const sorted = [...unique.values()].sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
  return sorted.map(([name, value]) => name + value).join('')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const crcTable = new Uint32Array(256).map((_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** zlib.crc32 came with Node 20.15; the package says Node 20. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff]!
  return (crc ^ 0xffffffff) >>> 0
}

/** The holes of a template, for saying what a signature covers. */
export function holes(template: string): readonly string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!.replace(/\?$/, ''))
}
