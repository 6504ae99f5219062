/**
 * A handler's transaction, as the writer thread runs it. It has the connection to itself from BEGIN to its end, so
 * it is also watched: one that does nothing for a while is rolled back, else a stuck handler would stop intake.
 */
import { HookonceError, invalid } from '../../errors.js'
import type { Connection } from './connection.js'
import { inTransaction, type Row, type SqliteValue, type Statement } from './driver.js'
import { effectWithin } from './effect.js'
import { noteLogTime } from './log-time.js'
import type { TransactionVerbs } from './protocol.js'
import { settleWithin } from './settle.js'
import { advanceWithin } from './watermark.js'

export interface HandlerTransactions {
  readonly isOpen: () => boolean
  /** Carries out one call. Throws TRANSACTION_CLOSED when its transaction is over. */
  perform(verb: keyof TransactionVerbs, now: number, args: { readonly transaction: number }): unknown
  /** Rolls back what is open. */
  abandon(problem: string): void
}

export interface HandlerTransactionsOptions {
  readonly connection: () => Connection
  readonly timeoutMs: number
  /** Called when a transaction ended by itself, not by a call. */
  readonly onTimeout: () => void
  /** Runs what a timer starts as calls are run. */
  readonly guard: (run: () => void) => void
}

export function handlerTransactions(options: HandlerTransactionsOptions): HandlerTransactions {
  const { connection, timeoutMs, onTimeout, guard } = options
  const statements = statementCache(connection)
  let open: number | null = null
  let timer: NodeJS.Timeout | undefined
  let lastEnd = { transaction: -1, problem: '' }

  const verbs: {
    [V in keyof TransactionVerbs]: (args: Parameters<TransactionVerbs[V]>[0], now: number) => unknown
  } = {
    begin({ transaction }) {
      connection().begin()
      open = transaction
    },
    run({ sql, params }) {
      const { changes, lastInsertRowid } = statements(sql).run(...params)
      return { changes: Number(changes), lastInsertRowid: compact(lastInsertRowid) }
    },
    get: ({ sql, params }) => compactRow(statements(sql).get(...params)),
    all: ({ sql, params }) =>
      statements(sql)
        .all(...params)
        .map(compactRow),
    settle({ settlements }, now) {
      noteLogTime(connection(), now) // what `begin` noted may be some time ago
      return settleWithin(connection(), now, settlements)
    },
    finish({ settlements }, now) {
      noteLogTime(connection(), now)
      const settled = settleWithin(connection(), now, settlements).every(Boolean)
      if (settled) verbs.commit({ transaction: open! }, now)
      else end('a lease was lost')
      return settled
    },
    advance: ({ watermark }) => advanceWithin(connection(), watermark),
    effect: ({ step }, now) => effectWithin(connection(), now, step),
    commit() {
      connection().commit()
      end('it was committed')
    },
    rollback: () => end('it was rolled back'),
  }

  function perform(
    verb: keyof TransactionVerbs,
    now: number,
    args: { readonly transaction: number },
  ): unknown {
    if (verb !== 'begin' && args.transaction !== open) {
      if (verb === 'rollback') return
      const problem = args.transaction === lastEnd.transaction ? lastEnd.problem : 'it has ended'
      throw new HookonceError('TRANSACTION_CLOSED', { problem })
    }
    clearTimeout(timer)
    try {
      return (verbs[verb] as (args: unknown, now: number) => unknown)(args, now)
    } catch (error) {
      // A COMMIT that failed must not leave the lock behind; some errors have rolled back already.
      if (verb === 'commit' || verb === 'finish') end('its commit failed')
      throw error
    } finally {
      if (open !== null && !inTransaction(connection().db)) end('SQLite rolled it back after an error')
      if (open !== null) timer = setTimeout(() => guard(expire), timeoutMs)
    }
  }

  function expire(): void {
    end(`it did nothing for ${timeoutMs} ms and was rolled back`)
    onTimeout()
  }

  function end(problem: string): void {
    clearTimeout(timer)
    if (open !== null) lastEnd = { transaction: open, problem }
    open = null
    if (inTransaction(connection().db)) connection().db.exec('rollback')
  }

  return { isOpen: () => open !== null, perform, abandon: (problem) => open !== null && end(problem) }
}

/** Statements of handlers, compiled once. They are the users', so their number is not known: the cache is bounded. */
function statementCache(connection: () => Connection): (sql: string) => Statement {
  const CACHED = 200
  const cache = new Map<string, Statement>()
  return (sql) => {
    let statement = cache.get(sql)
    if (statement === undefined) {
      statement = compile(connection(), sql)
      if (cache.size >= CACHED) cache.clear()
      cache.set(sql, statement)
    }
    return statement
  }
}

/** Comments, texts and quoted names: what must not be taken for SQL. */
const QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g
const ENDS_TRANSACTION = /^[\s;]*(begin|commit|end|rollback(?!(\s+transaction)?\s+to\b))\b/i
const MORE_THAN_ONE = /[^\s;][^;]*;[\s;]*[^\s;]/
const CREATES_TRIGGER = /^[\s;]*create\s+(temp\s+|temporary\s+)?trigger\b/i

function compile({ db }: Connection, sql: string): Statement {
  const bare = String(sql).replace(QUOTED, ' ')
  const keyword = ENDS_TRANSACTION.exec(bare)?.[1]
  if (keyword !== undefined) {
    throw invalid(
      `The statement ${keyword}`,
      'is not allowed in a handler, because hookonce begins and ends the transaction; use a savepoint',
    )
  }
  // SQLite compiles the first statement and would drop the rest without a word. A trigger's body has its own.
  if (MORE_THAN_ONE.test(bare) && !CREATES_TRIGGER.test(bare)) {
    throw invalid('The SQL text', 'must be a single statement; run several statements one by one')
  }
  const statement = db.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}

function compactRow<R extends Row | undefined>(row: R): R {
  if (row !== undefined) for (const name of Object.keys(row)) row[name] = compact(row[name]!)
  return row
}

/** Integers come as numbers where a number is exact, else as bigint: no digit is lost, and most code sees numbers. */
function compact<V extends SqliteValue>(value: V): V | number {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
