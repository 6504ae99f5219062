/**
 * Compiles fields to functions when a source is made. All JSON paths of one compiler are one query: a delivery is scanned
 * once.
 */
import { randomUUID } from 'node:crypto'
import { type JsonQuery, type JsonToken, jsonQuery } from '../json.js'
import { xmlText } from './body-formats.js'
import { type Field, type FieldText, isList, splitField } from './field.js'
import { hashName, signedName } from './names.js'
import type { Reading } from './reading.js'

export type OptionValues = Readonly<Record<string, unknown>>
/** Undefined when the value is absent. The caller decides whether that is an error. */
export type Evaluate = (reading: Reading) => string | undefined

const none: readonly string[] = []

/** All JSON paths from one level (the slice, the object around it, ...). Compiled when the first delivery is read. */
interface LevelPaths {
  readonly paths: string[]
  query: JsonQuery | null
}

export class Compiler {
  readonly #options: OptionValues
  readonly #levels = new Map<number, LevelPaths>()

  constructor(options: OptionValues) {
    this.#options = options
  }

  fill(text: string): string {
    return text.replace(/\{option:(\w+)\}/g, (_, name: string) => String(this.#options[name] ?? ''))
  }

  field(field: Field): Evaluate {
    if (typeof field === 'string') return this.#text(this.fill(field) as FieldText)
    if (isList(field)) {
      const choices = field.map((choice) => this.field(choice))
      return (reading) => {
        for (const choice of choices) {
          const value = choice(reading)
          if (value !== undefined && value !== '') return value
        }
        return undefined
      }
    }
    if ('optional' in field) return this.field(field.optional)
    if ('choose' in field) {
      const value = this.field(field.choose)
      const from = new Map(Object.entries(field.from).map(([text, chosen]) => [text, this.field(chosen)]))
      return (reading) => from.get(value(reading) ?? '')?.(reading)
    }
    const members = field.fields.map((inner) => ({
      read: this.field(inner),
      isOptional: typeof inner === 'object' && 'optional' in inner,
    }))
    return (reading) => {
      const values: (string | null)[] = []
      for (const { read, isOptional } of members) {
        const value = read(reading)
        if ((value === undefined || value === '') && !isOptional) return undefined
        values.push(value ?? null)
      }
      return field.combine(values)
    }
  }

  /** Returns more than one value only for JSON paths with `[]` or `*`. */
  all(field: FieldText): (reading: Reading) => readonly string[] {
    const [kind, rest] = splitField(this.fill(field) as FieldText)
    if (kind === 'json') {
      const tokens = this.tokens(rest)
      return (reading) => {
        const found = tokens(reading)
        return found.length === 0 ? none : found.map((token) => scalar(token) ?? '')
      }
    }
    const evaluate = this.field(field)
    return (reading) => {
      const value = evaluate(reading)
      return value === undefined ? [] : [value]
    }
  }

  /** All values of a path with `[]` or `*`, else at most one. Of a list of fields, those of the first that has any. */
  values(field: Field): (reading: Reading) => readonly string[] {
    if (typeof field === 'string') {
      const all = this.all(field)
      return (reading) => {
        const found = all(reading)
        return found.length === 0 || !found.includes('') ? found : found.filter((value) => value !== '')
      }
    }
    if (isList(field)) {
      const choices = field.map((choice) => this.values(choice))
      return (reading) => {
        for (const choice of choices) {
          const found = choice(reading)
          if (found.length > 0) return found
        }
        return none
      }
    }
    if ('choose' in field) {
      const value = this.field(field.choose)
      const from = new Map(Object.entries(field.from).map(([text, chosen]) => [text, this.values(chosen)]))
      return (reading) => from.get(value(reading) ?? '')?.(reading) ?? none
    }
    const one = this.field(field)
    return (reading) => [one(reading) ?? ''].filter((value) => value !== '')
  }

  /** `$.` starts at the document, `^.` at the object around the slice, any other path at the slice. */
  tokens(path: string): (reading: Reading) => readonly JsonToken[] {
    const [, anchor, rest] = /^(\$\.?|\^+\.?)?(.*)$/s.exec(path)!
    const level = anchor === undefined ? 0 : anchor.startsWith('$') ? -1 : anchor.replace('.', '').length
    const own = this.#levels.get(level) ?? { paths: [], query: null }
    this.#levels.set(level, own)
    own.query = null
    const known = own.paths.indexOf(rest!)
    const slot = known >= 0 ? known : own.paths.push(rest!) - 1
    return (reading) => {
      own.query ??= jsonQuery(own.paths)
      return reading.tokens(own.query, slot, level)
    }
  }

  #text(field: FieldText): Evaluate {
    const [kind, rest] = splitField(field)
    switch (kind) {
      case 'json': {
        const tokens = this.tokens(rest)
        return (reading) => {
          for (const token of tokens(reading)) {
            const text = scalar(token)
            if (text !== undefined) return text
          }
          return undefined
        }
      }
      case 'keys': {
        const except = new Set(rest.split(','))
        const members = this.tokens('*')
        return (reading) =>
          members(reading).find(({ key }) => key !== null && !except.has(key))?.key ?? undefined
      }
      case 'header': {
        const name = rest.toLowerCase()
        return (reading) => reading.header(name)
      }
      case 'query':
        return (reading) => reading.query(rest)
      case 'form':
        return (reading) => reading.form(rest)
      case 'xml':
        return (reading) => xmlText(Buffer.from(reading.document).toString('utf8'), rest)
      case 'claim':
        return (reading) => {
          const claim = reading.signedData.claims?.[rest]
          return typeof claim === 'string' || typeof claim === 'number' ? String(claim) : undefined
        }
      case 'option': {
        const value = this.#options[rest]
        return () => (value === undefined ? undefined : String(value))
      }
      case 'const':
        return () => rest
      case 'timestamp':
        return (reading) => reading.timestamp
      case 'method':
        return (reading) => reading.delivery.method
      case 'url':
        return (reading) => reading.url
      case 'path':
        return (reading) => reading.path
      case 'index':
        return (reading) => String(reading.slice ?? 0)
      case 'unique':
        return () => randomUUID()
      case 'hash':
        return (reading) => hashName(reading.level(0))
      case 'signed':
        return signedName
      default:
        throw new TypeError(`"${field}" is not a field. docs/unknown-senders.md lists them all.`)
    }
  }
}

function scalar(token: JsonToken): string | undefined {
  return token.kind === 'string' || token.kind === 'number' || token.kind === 'boolean'
    ? token.text
    : undefined
}
