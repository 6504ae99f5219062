/** One connection to the log's file, as a thread holds it. Everything here blocks: it runs off the event loop. */
import { HookonceError } from '../../errors.js'
import { createFile } from './create-file.js'
import { type Database, inTransaction, openDatabase, type Row, type Statement } from './driver.js'
import { isBusy } from './failure.js'
import { type FileIdentity, fileIdentity } from './file-identity.js'

export const IN_MEMORY = ':memory:'

export interface ConnectionOptions {
  readonly path: string
  readonly busyTimeoutMs: number
  /** Read only: a slip in a read verb must not write beside the writer's back. */
  readonly readOnly: boolean
  /** Null or left out = no limit but the disk's. */
  readonly maxBytes?: number | null
}

export interface Connection {
  readonly db: Database
  /** The statement of this text, compiled once. */
  prepare(sql: string): Statement
  /** Takes the write lock, waiting for it up to the busy timeout. */
  begin(): void
  /** What each write transaction does first, from now on; null = nothing. */
  beforeWrites(run: (() => void) | null): void
  /** Ends the transaction of `begin`. Throws when the file it went to is no longer the one at the path. */
  commit(): void
  /** Runs `body` in a write transaction: all of it is kept, or, when it throws, nothing. */
  write<T>(body: () => T): T
  /** Runs `body` on one unchanging view of the log. Writes nothing. */
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
  const files = options.path === IN_MEMORY ? null : fileIdentity(options.path)
  return connectionOf(db, options.busyTimeoutMs, files)
}

function connectionOf(db: Database, busyTimeoutMs: number, files: FileIdentity | null): Connection {
  const statements = new Map<string, Statement>()
  let first: (() => void) | null = null

  function prepare(sql: string): Statement {
    let statement = statements.get(sql)
    if (statement === undefined) {
      statement = db.prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }

  // SQLite's own wait looks again after up to 100 ms, and a process that writes without pause then keeps all others
  // out: of two, one did all the work. Looking every millisecond finds the gaps between its transactions.
  function begin(): void {
    prepare('pragma busy_timeout = 0').get()
    try {
      // IMMEDIATE takes the lock first: a read that is upgraded later could fail as busy with no wait at all.
      retryWhileBusy(busyTimeoutMs, () => prepare('begin immediate').run())
    } finally {
      prepare(`pragma busy_timeout = ${busyTimeoutMs}`).get()
    }
    undoUnless(() => {
      files?.insist()
      first?.()
    })
  }

  function commit(): void {
    prepare('commit').run()
    // Again: between the first look and the lock of another program the file may have gone.
    files?.insist()
  }

  function undoUnless<T>(body: () => T): T {
    try {
      return body()
    } catch (error) {
      // SQLite has already rolled back after some errors (disk full, I/O); a second ROLLBACK would hide the cause.
      if (inTransaction(db)) db.exec('rollback')
      throw error
    }
  }

  function write<T>(body: () => T): T {
    begin()
    return undoUnless(() => {
      const value = body()
      commit()
      return value
    })
  }

  function read<T>(body: () => T): T {
    // In memory one connection serves all, and a handler's transaction may be open on it.
    if (inTransaction(db)) return body()
    prepare('begin').run()
    return undoUnless(() => {
      const value = body()
      prepare('commit').run()
      files?.insist()
      return value
    })
  }

  return {
    db,
    prepare,
    begin,
    beforeWrites(run) {
      first = run
    },
    commit,
    write,
    read,
    close() {
      // Closing folds the -wal this connection knows into the file, which others may have changed since.
      if (!files?.lost) db.close()
    },
  }
}

function configure(
  db: Database,
  { path, busyTimeoutMs, readOnly, maxBytes = null }: ConnectionOptions,
): void {
  db.exec(`pragma busy_timeout = ${busyTimeoutMs}`)
  if (path !== IN_MEMORY) {
    // Switching a new file to WAL does not wait by itself when two processes do it at once.
    retryWhileBusy(busyTimeoutMs, () => db.exec('pragma journal_mode = wal'))
    // FULL: a commit is on disk when it returns (promise 1). NORMAL would lose the last acks with the power.
    db.exec('pragma synchronous = full')
  }
  db.exec(`
    pragma foreign_keys = off;
    pragma temp_store = memory;
    pragma cache_size = -${readOnly ? 16_000 : 64_000};
    pragma wal_autocheckpoint = 4000;
    pragma journal_size_limit = 67108864;
    pragma query_only = ${readOnly ? 'on' : 'off'};
  `)
  if (maxBytes !== null) limitSize(db, maxBytes)
  if (path !== IN_MEMORY) insistOnDurability(db)
}

function limitSize(db: Database, maxBytes: number): void {
  const pages = Math.max(1, Math.floor(maxBytes / Number(pragma(db, 'page_size'))))
  db.prepare(`pragma max_page_count = ${pages}`).get()
}

function insistOnDurability(db: Database): void {
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

/** Never written to: waiting on it is how a thread sleeps. */
const pause = new Int32Array(new SharedArrayBuffer(4))
