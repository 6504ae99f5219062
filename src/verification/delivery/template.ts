/**
 * Templates of signed content, such as `{timestamp}.{body}`. A hole is a field (with `?` at the end it may be absent),
 * `{body}` (the bytes as received), `{document}` (the JSON document in a form), `{crc32}` of the body or `{sorted-form}`.
 */
import { crc32 } from 'node:zlib'
import { isForm, type Pairs } from './body-formats.js'
import type { Compiler, Evaluate } from './compile.js'
import type { Field, FieldText } from './field.js'
import type { Reading } from './reading.js'

export type Chunk = string | Uint8Array
export type SignedContent = (reading: Reading) => readonly Chunk[] | 'missing_field' | 'malformed_body'
/**
 * For content that no template can describe. It calls `field` once for each value, when the source is made: the body is
 * then scanned once. The returned function gives null when a value is missing or not trusted.
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
        // A lone surrogate has no UTF-8 bytes: two different texts would have one hash.
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
 * Names and values without separators, sorted by name then value, without repeated pairs: the rule of Twilio and
 * Mandrill. Undefined for a body that is not a form, which this would not sign; with `?` another field must cover it.
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

export function holes(template: string): readonly string[] {
  return [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name!.replace(/\?$/, ''))
}
