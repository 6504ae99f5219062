/**
 * The SQLite library: `node:sqlite` where Node has it, else `@photostructure/sqlite`, which has the same `DatabaseSync`.
 * The types here cover only what is used. Neither library is needed to compile.
 */
import { HookonceError } from '../../errors.js'
import { requireOptional } from '../../optional-module.js'

/** A bound parameter or a value of a row. Integers beyond 2^53 are bigints, all others numbers. */
export type SqliteValue = null | number | bigint | string | Uint8Array
export type Row = Record<string, SqliteValue>

export interface Statement {
  run(...params: SqliteValue[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...params: SqliteValue[]): Row | undefined
  all(...params: SqliteValue[]): Row[]
  setReadBigInts(enabled: boolean): void
}

export interface Database {
  readonly isTransaction?: boolean
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

export const SQLITE_PACKAGE = '@photostructure/sqlite'

export function openDatabase(path: string): Database {
  const { DatabaseSync } = loadDriver()
  const db = new DatabaseSync(path)
  return bindsNumbers(db) ? db : withNumbers(db)
}

/** `node:sqlite` of Node 22.13-22.18 and 24.0-24.5 takes `?1` for a name, and refuses a value by position. */
function bindsNumbers(db: Database): boolean {
  try {
    db.prepare('select ?1').get(1)
    return true
  } catch {
    return false
  }
}

type Named = (values: Readonly<Record<string, SqliteValue>>) => never

function withNumbers(db: Database): Database {
  return {
    get isTransaction() {
      return db.isTransaction!
    },
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql)
      const numbers = [...new Set(sql.match(/\?\d+/g))]
      if (numbers.length === 0) return statement
      const named = (params: readonly SqliteValue[]) =>
        Object.fromEntries(numbers.map((name) => [name, params[Number(name.slice(1)) - 1]!]))
      return {
        run: (...params) => (statement.run as unknown as Named).call(statement, named(params)),
        get: (...params) => (statement.get as unknown as Named).call(statement, named(params)),
        all: (...params) => (statement.all as unknown as Named).call(statement, named(params)),
        setReadBigInts: (enabled) => statement.setReadBigInts(enabled),
      }
    },
  }
}

/** Node 22.13-22.15 have no `isTransaction`; there a failing BEGIN shows that a transaction is open. */
export function inTransaction(db: Database): boolean {
  if (db.isTransaction !== undefined) return db.isTransaction
  try {
    db.exec('begin')
  } catch {
    return true
  }
  db.exec('rollback')
  return false
}

interface Driver {
  readonly DatabaseSync: new (path: string) => Database
}

let driver: Driver | undefined

function loadDriver(): Driver {
  driver ??= builtin() ?? installed()
  return driver
}

export function hasDriver(): boolean {
  try {
    return loadDriver() !== undefined
  } catch {
    return false
  }
}

function builtin(): Driver | undefined {
  // Node 20 before 20.16 has neither `getBuiltinModule` nor node:sqlite.
  return withoutWarning(() => process.getBuiltinModule?.('node:sqlite') as Driver | undefined)
}

/** Node 22 and 24 warn that `node:sqlite` is experimental, which tells a user of hookonce nothing. */
function withoutWarning<T>(load: () => T): T {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!String(warning).startsWith('SQLite is an experimental'))
      emitWarning.call(process, warning, ...(rest as []))
  }
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}

function installed(): Driver {
  try {
    return requireOptional<Driver>(SQLITE_PACKAGE)
  } catch (error) {
    throw new HookonceError('DRIVER_MISSING', { driver: SQLITE_PACKAGE }, error)
  }
}
