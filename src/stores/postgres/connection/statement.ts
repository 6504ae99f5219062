import type { CustomTypesConfig, QueryConfig, QueryResultRow } from 'pg'
import pg from 'pg'
import { HookonceError, invalid } from '../../../errors.js'

export interface Statement {
  /** An empty name means that the statement is not prepared. */
  readonly name: string
  readonly sql: string
}

export type Run = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => Promise<Row[]>

/** A prepared statement: statement('get')`select ...` */
export function statement(
  name: string,
): (parts: TemplateStringsArray, ...values: (string | number)[]) => Statement {
  return (parts, ...values) => ({ name, sql: String.raw({ raw: parts }, ...values) })
}

/** Not prepared: SQL made for one call, or rarely used. */
export function adhoc(sql: string): Statement {
  return { name: '', sql }
}

export type InSchema = (sql: string) => string

/** The SQL in this folder says `hookonce.` instead of the configured schema. */
export function inSchema(schema: string): InSchema {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) {
    throw invalid(
      'The PostgreSQL schema name',
      'must be 1 to 63 letters, digits or underscores, and must not start with a digit',
    )
  }
  const quoted = `"${schema}"`
  return (sql) =>
    sql
      .replace(/\bhookonce\./g, `${quoted}.`)
      .replace(/(create schema if not exists )hookonce\b/g, `$1${quoted}`)
}

/** Statements that have a name keep their text with the schema. */
export function preparer(
  schema: string,
  isNamed: () => boolean,
): (statement: Statement, values: unknown[]) => QueryConfig {
  const toSchema = inSchema(schema)
  const schemaTexts = new Map<string, string>()
  return ({ name, sql }, values) => {
    let text = schemaTexts.get(sql)
    if (text === undefined) {
      text = toSchema(sql).trim()
      if (name) schemaTexts.set(sql, text)
    }
    const query = { text, values, types: valueTypes }
    return !name || !isNamed() ? query : { ...query, name: `hookonce_${schema}_${name}` }
  }
}

/** Numbers of the log stay below 2^53. Set for each query: the parsers of the application stay as they are. */
const valueTypes: CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === pg.types.builtins.INT8) return Number
    const parse = pg.types.getTypeParser(oid, format as 'text')
    if (oid === pg.types.builtins.TIMESTAMPTZ)
      return (value: string) => (ISO_UTC.test(value) ? isoMs(value) : otherMs(value, parse))
    return parse
  },
}

/** Instants are usually `2026-01-31 23:59:59.123456+00`. The parser of the driver takes twice as long. */
const ISO_UTC = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00$/

/** Any other form is an error: the parser of the driver returns null for it, which would count as 1970. */
function otherMs(value: string, parse: (value: string) => unknown): number {
  const ms = ISO.test(value) ? Number(parse(value)) : Number.NaN
  if (Number.isNaN(ms))
    throw new HookonceError('STORE_FAILED', { problem: 'the server sends times in a format that is not ISO' })
  return ms
}

const ISO = /^\d{4,}-\d\d-\d\d /

function isoMs(value: string): number {
  return Date.parse(`${value.slice(0, 10)}T${value.slice(11, -3)}Z`)
}

/** A literal is cheaper than a JavaScript array for the driver. Control characters were refused. */
export function texts(values: readonly (string | null)[]): string {
  let literal = '{'
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (i > 0) literal += ','
    literal +=
      value === null || value === undefined
        ? 'NULL'
        : `"${SPECIAL.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`
  }
  return `${literal}}`
}

const SPECIAL = /["\\]/

export function numbers(values: readonly (number | boolean | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}

/** One binary value: the driver sends an array of bytea as hexadecimal text. */
export function joined(chunks: readonly Uint8Array[]): Buffer {
  return chunks.length === 1
    ? Buffer.from(chunks[0]!.buffer, chunks[0]!.byteOffset, chunks[0]!.byteLength)
    : Buffer.concat(chunks)
}
