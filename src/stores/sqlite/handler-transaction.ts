/**
 * A handler's transaction on the writer thread. It has the connection to itself until it ends. A transaction that is idle
 * for too long is rolled back, because a blocked handler would stop intake.
 */
import { HookonceError, invalid } from '../../errors.js'
import { type Connection, noteLogTime } from './connection.js'
import { inTransaction, type Row, type SqliteValue, type Statement } from './driver.js'
import { advanceWithin, effectWithin } from './keys.js'
import type { TransactionVerbs } from './protocol.js'
import { putReplyWithin } from './replies.js'
import { settleWithin } from './settle.js'

export interface HandlerTransactionsOptions {
  readonly connection: () => Connection
  readonly timeoutMs: number
  readonly onTimeout: () => void
  readonly guard: (run: () => void) => void
}

export function handlerTransactions(options: HandlerTransactionsOptions) {
  const { connection, timeoutMs, onTimeout, guard } = options
  const statements = statementCache(connection)
  let current: number | null = null
  let timer: NodeJS.Timeout | undefined
  let lastEnd = { transaction: -1, problem: '' }

  const verbs: {
    [V in keyof TransactionVerbs]: (args: Parameters<TransactionVerbs[V]>[0]) => unknown
  } = {
    begin({ transaction }) {
      connection().begin()
      current = transaction
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
    settle({ settlements }) {
      noteLogTime(connection()) // `begin` may have written an older time
      return settleWithin(connection(), settlements)
    },
    finish({ settlements }) {
      noteLogTime(connection())
      const settled = settleWithin(connection(), settlements).every(Boolean)
      if (settled) verbs.commit({ transaction: current! })
      else end('a lease was lost')
      return settled
    },
    advance: ({ watermark }) => advanceWithin(connection(), watermark),
    effect: ({ step }) => effectWithin(connection(), step),
    putReply: ({ seq, reply }) => putReplyWithin(connection(), seq, reply),
    commit() {
      connection().commit()
      end('it was committed')
    },
    rollback: () => end('it was rolled back'),
  }

  /** Throws TRANSACTION_CLOSED when the transaction of the call has ended. */
  function perform(verb: keyof TransactionVerbs, args: { readonly transaction: number }): unknown {
    if (verb !== 'begin' && args.transaction !== current) {
      if (verb === 'rollback') return
      const problem = args.transaction === lastEnd.transaction ? lastEnd.problem : 'it has ended'
      throw new HookonceError('TRANSACTION_CLOSED', { problem })
    }
    clearTimeout(timer)
    try {
      return (verbs[verb] as (args: unknown) => unknown)(args)
    } catch (error) {
      // A failed COMMIT must release the lock. After some errors SQLite has already rolled back.
      if (verb === 'commit' || verb === 'finish') end('its commit failed')
      throw error
    } finally {
      if (current !== null && !inTransaction(connection().db)) end('SQLite rolled it back after an error')
      if (current !== null) timer = setTimeout(() => guard(expire), timeoutMs)
    }
  }

  function expire(): void {
    end(`it did nothing for ${timeoutMs} ms and was rolled back`)
    onTimeout()
  }

  function end(problem: string): void {
    clearTimeout(timer)
    if (current !== null) lastEnd = { transaction: current, problem }
    current = null
    if (inTransaction(connection().db)) connection().db.exec('rollback')
  }

  return {
    isOpen: () => current !== null,
    perform,
    abandon(problem: string): void {
      if (current !== null) end(problem)
    },
  }
}

/** User code can make any number of statements, so the cache is bounded. */
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

/** Comments, string literals and quoted names: the checks below must not read them as SQL. */
const QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g
const ENDS_TRANSACTION = /^[\s;]*(begin|commit|end|rollback(?!(\s+transaction)?\s+to\b))\b/i
/** They act on the connection or the file, which the log shares, and some stay after a rollback. */
const CHANGES_CONNECTION = /^[\s;]*(pragma|attach|detach|vacuum|create\s+(?:temp|temporary))\b/i
const READING_PRAGMA =
  /^[\s;]*pragma\s+(?:\w+\s*\.\s*)?(?:table_(?:info|xinfo|list)|index_(?:info|xinfo|list)|foreign_key_(?:list|check)|database_list|collation_list|function_list|compile_options|defer_foreign_keys)\b/i
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
  const change = CHANGES_CONNECTION.exec(bare)?.[1]
  if (change !== undefined && !READING_PRAGMA.test(bare)) {
    throw invalid(
      `The statement ${change.replace(/\s+/g, ' ')}`,
      'is not allowed in a handler, because it changes the connection that the log shares with all handlers; use another connection',
    )
  }
  // SQLite compiles the first statement and silently drops the rest. The body of a trigger contains statements.
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

/** An integer stays a bigint where a number would lose digits. */
function compact<V extends SqliteValue>(value: V): V | number {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
