/** One connection of a thread to the file of the log. Its calls block, so they run outside the event loop. */
import { HookonceError } from '../../errors.js'
import { createFile, type DatabaseFiles, databaseFiles } from './database-file.js'
import {
  type Database,
  inTransaction,
  openDatabase,
  type Row,
  type SqliteValue,
  type Statement,
} from './driver.js'
import { isBusy } from './failure.js'

export const IN_MEMORY = ':memory:'

export interface ConnectionOptions {
  readonly path: string
  readonly busyTimeoutMs: number
  /** SQLite then refuses a write by a mistake in a read verb (`query_only`). */
  readonly readOnly: boolean
  /** Null or left out: limited by the disk only. */
  readonly maxBytes?: number | null
}

export interface Connection {
  readonly db: Database
  now: number
  /** Set once the log has its tables: each write transaction then notes the time first. */
  notesTime: boolean
  run(sql: string, ...values: SqliteValue[]): ReturnType<Statement['run']>
  get(sql: string, ...values: SqliteValue[]): Row | undefined
  all(sql: string, ...values: SqliteValue[]): Row[]
  prepare(sql: string): Statement
  /** Waits for the write lock up to the busy timeout, unless `waits` is false. */
  begin(waits?: boolean): void
  /** Throws when the file at the path has been replaced or cut. */
  commit(): void
  write<T>(body: () => T, waits?: boolean): T
  read<T>(body: () => T): T
  close(): void
}

export function openConnection(options: ConnectionOptions): Connection {
  if (options.path !== IN_MEMORY) createFile(options.path)
  const db = openDatabase(options.path)
  try {
    configure(db, options)
  } catch (error) {
    db.close()
    throw error
  }
  const files = options.path === IN_MEMORY ? null : databaseFiles(options.path)
  return connectionOf(db, options.busyTimeoutMs, files)
}

function connectionOf(db: Database, busyTimeoutMs: number, files: DatabaseFiles | null): Connection {
  const statements = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = db.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  // SQLite's own busy handler sleeps up to 100 ms between tries. With it, a process that writes without pause locked out
  // all others: of two processes, one did all the work. A try every millisecond finds the gaps between transactions.
  function begin(waits = true): void {
    prepare('pragma busy_timeout = 0').get()
    try {
      // IMMEDIATE takes the write lock now. A read transaction that is upgraded later can fail as busy without waiting.
      retryWhileBusy(waits ? busyTimeoutMs : 0, () => prepare('begin immediate').run())
    } finally {
      prepare(`pragma busy_timeout = ${busyTimeoutMs}`).get()
    }
    rollbackOnError(() => {
      files?.begin()
      if (connection.notesTime) noteLogTime(connection)
    })
  }

  function commit(): void {
    prepare('commit').run()
    // Checked again: another program may have removed the file after the check in `begin`.
    files?.committed()
  }

  function rollbackOnError<T>(body: () => T): T {
    try {
      return body()
    } catch (error) {
      // SQLite itself rolls back after some errors (disk full, I/O). A second ROLLBACK would fail and hide the cause.
      if (inTransaction(db)) db.exec('rollback')
      throw error
    }
  }

  function write<T>(body: () => T, waits = true): T {
    begin(waits)
    return rollbackOnError(() => {
      const value = body()
      commit()
      return value
    })
  }

  function read<T>(body: () => T): T {
    // A log in memory has one connection for everything, and a handler's transaction may be open on it.
    if (inTransaction(db)) return body()
    prepare('begin').run()
    return rollbackOnError(() => {
      const value = body()
      prepare('commit').run()
      files?.verify()
      return value
    })
  }

  const connection: Connection = {
    db,
    now: 0,
    notesTime: false,
    prepare,
    run: (sql, ...values) => prepare(sql).run(...values),
    get: (sql, ...values) => prepare(sql).get(...values),
    all: (sql, ...values) => prepare(sql).all(...values),
    begin,
    commit,
    write,
    read,
    close() {
      // Closing would write this connection's -wal into the file. A file that was replaced must not be changed.
      if (!files?.lost) db.close()
      files?.close()
    },
  }
  return connection
}

/** State in memory that belongs to a connection and is lost with it. */
export function perConnection<State>(make: () => State): (log: Connection) => State {
  const states = new WeakMap<Connection, State>()
  return (log) => {
    const state = states.get(log) ?? make()
    states.set(log, state)
    return state
  }
}

function configure(
  db: Database,
  { path, busyTimeoutMs, readOnly, maxBytes = null }: ConnectionOptions,
): void {
  db.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  if (path !== IN_MEMORY) {
    // SQLite does not apply the busy timeout when two processes switch a new file to WAL at once.
    retryWhileBusy(busyTimeoutMs, () => db.exec('pragma journal_mode = wal'))
    // With NORMAL a power failure would lose the last acknowledged deliveries (promise 1).
    db.exec('pragma synchronous = full')
  }
  // 8 MB: other pages are in the cache of the operating system. 64 MB made `record` slower.
  db.exec(`
    pragma foreign_keys = off;
    pragma temp_store = memory;
    pragma cache_size = -8000;
    pragma wal_autocheckpoint = 4000;
    pragma journal_size_limit = 67108864;
    pragma query_only = ${readOnly ? 'on' : 'off'};
  `)
  if (maxBytes !== null) limitSize(db, maxBytes)
  if (path !== IN_MEMORY) verifyDurability(db)
}

function limitSize(db: Database, maxBytes: number): void {
  const pages = Math.max(1, Math.floor(maxBytes / Number(pragma(db, 'page_size'))))
  db.prepare(`pragma max_page_count = ${pages}`).get()
}

function verifyDurability(db: Database): void {
  const mode = pragma(db, 'journal_mode')
  const synchronous = pragma(db, 'synchronous')
  if (mode === 'wal' && synchronous === 2) return
  throw new HookonceError('STORE_FAILED', {
    problem: `this file system gives journal_mode ${mode} and synchronous ${synchronous} where wal and 2 are needed`,
  })
}

function pragma(db: Database, name: string): unknown {
  const row: Row | undefined = db.prepare(`pragma ${name}`).get()
  return row?.[name]
}

const POLL_MS = 1

function retryWhileBusy(timeoutMs: number, run: () => void): void {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      run()
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
      Atomics.wait(pause, 0, 0, POLL_MS)
    }
  }
}

/** Nobody writes to it: `Atomics.wait` on it makes the thread sleep. */
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * The log has the time of the host's clock, but never an earlier one than any process has written into it. A row stores the
 * newest time for other processes and later starts. `forwardClock` decides how time passes while the host's clock is behind.
 *
 * The row is written this often at most, because one more page in every commit costs time. After a restart, or in another
 * process, time may start this much too early, and a due event is claimed this much too late.
 */
const NOTE_EVERY_MS = 100

const readLogTime = 'select at from hookonce_clock'
const raiseLogTime = `update hookonce_clock set at = ?1 where at <= ?1 - ${NOTE_EVERY_MS}`

export function logTime(log: Connection, now: number): number {
  return Math.max(now, Number(log.get(readLogTime)?.at ?? 0))
}

/** Call it inside a write transaction. Later transactions then see no earlier time. */
export function noteLogTime(log: Connection): void {
  log.run(raiseLogTime, log.now)
}
