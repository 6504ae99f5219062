/** The name of the PostgreSQL schema, checked once and quoted everywhere. */
import { invalid } from '../../errors.js'

export type InSchema = (sql: string) => string

/** SQL in this folder says `hookonce.`; this puts the configured schema in its place. */
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
