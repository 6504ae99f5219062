/** Runs the statements of the log: on which connection, with which time limit, and when to send one again. */
import type { Client, ClientConfig, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { HookonceError } from '../../errors.js'
import { acquireMs, answerOf, destroy, giveBack, newClient, take } from './connection.js'
import { asHookonceError, isConnectionFailure, isRaceFailure, isStatementLost } from './failure.js'
import { openPools, type PostgresOptions, readTimeoutMs, settled } from './pools.js'
import { openReads } from './read-pool.js'
import { awaitStandby } from './replication.js'
import { createSessions, type Sessions, transact } from './sessions.js'
import { adhoc, type InSchema, inSchema, preparer, type Run, type Statement } from './statement.js'
import { type TransactionPool, transactionPool } from './transaction-pool.js'

export interface Database {
  readonly schema: string
  readonly inSchema: InSchema
  /** The most connections this process may open: for the log, reads and handlers, and one that listens. */
  readonly connections: number
  /** Runs one statement in its own transaction. Throws a HookonceError. */
  query<Row extends QueryResultRow>(statement: Statement, values: unknown[], limitMs?: number): Promise<Row[]>
  /**
   * The same for statements that may be sent again after a broken connection, because they recognise rows that they
   * have already written. Throws the error of the driver, so that callers can distinguish failures.
   */
  resend<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** The same as `query`, for SQL made for one call. */
  adhoc<Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]>
  /** Runs a read on a connection that neither intake nor leases use. The server limits its time. */
  read: Run
  /** Runs `work` between begin and commit on a connection of the log. */
  atomic<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** The time limit of a statement. */
  readonly timeoutMs: number
  /** Whether the connections of `transactions` belong to the store, and not to the application. */
  readonly ownsTransactions: boolean
  /** The connections of handlers' transactions. */
  readonly transactions: Pick<TransactionPool, 'take' | 'offer' | 'giveBack'>
  /**
   * Makes a connection outside every pool, not connected yet: to listen, to migrate, to maintain. It goes to `directUrl`
   * if there is one.
   */
  client(): Client
  readonly hasDirectUrl: boolean
  readonly sessions: Sessions
  /** The statement in the form that the driver takes, for a client of `transactions`. */
  prepared(statement: Statement, values: unknown[]): QueryConfig
  /** Aborted when `close` is called. */
  readonly closing: AbortSignal
  close(): Promise<void>
}

export function openDatabase(given: PostgresOptions): Database {
  const options = settled(given)
  const schema = options.schema ?? 'hookonce'
  const { log, reads: readPool, transactions, direct, end } = openPools(options)
  const timeoutMs = options.statementTimeoutMs ?? 10_000
  const hasDirectUrl = options.directUrl !== undefined
  const sessions = createSessions({ prepare: options.prepare, hasDirectUrl })
  const prepared = preparer(schema, () => sessions.named)
  const reads = openReads(readPool, { timeoutMs: readTimeoutMs(options), prepared, sessions })
  const inUse = new Set<PoolClient>()
  const forHandlers = transactionPool(transactions, options.pool === undefined)
  const closing = new AbortController()
  let closed = false
  let underWay = 0
  let whenIdle: (() => void) | undefined

  async function send(
    client: PoolClient,
    statement: Statement,
    values: unknown[],
    limitMs: number,
  ): Promise<QueryResult> {
    return answerOf(client.query(prepared(statement, values)), limitMs)
  }

  /** A statement that is a transaction. In a shared session the transaction contains its settings. */
  async function sendAlone(client: PoolClient, statement: Statement, values: unknown[], limitMs: number) {
    if (!sessions.shared) return send(client, statement, values, limitMs)
    return answerOf(transact(client, sessions.begin(limitMs), prepared(statement, values)), limitMs)
  }

  /** Runs `work` on a connection of the log. After a failure the connection is destroyed: its state is unknown. */
  async function using<T>(work: (client: PoolClient) => Promise<T>, limitMs = timeoutMs): Promise<T> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    underWay++
    try {
      const client = await take(log, acquireMs(log))
      inUse.add(client)
      let failure: unknown = null
      try {
        await sessions.configure(client, limitMs)
        return await work(client)
      } catch (error) {
        if (isStatementLost(error)) sessions.statementLost()
        if (isConnectionFailure(error) || isStatementLost(error)) failure = error
        throw error
      } finally {
        inUse.delete(client)
        giveBack(log, client, failure, limitMs)
      }
    } finally {
      if (--underWay === 0) whenIdle?.()
    }
  }

  async function attempt<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    resend: boolean,
    mostMs = timeoutMs,
  ) {
    for (let tries = 1; ; tries++) {
      let sent = false
      // The first try has a short limit: a connection that does not answer must not use up the time of the sender.
      const limitMs = resend && tries === 1 ? Math.min(mostMs, FIRST_TRY_MS) : mostMs
      try {
        return await using(async (client) => {
          sent = true
          const { rows } = await sendAlone(client, statement, values, limitMs)
          // The statement may have found the rows of its first try, whose wait for the standby was cancelled.
          if (resend && tries > 1) await sendAlone(client, awaitStandby, [], limitMs)
          return rows as Row[]
        }, limitMs)
      } catch (error) {
        const again =
          isRaceFailure(error) || isStatementLost(error) || (resend && sent && isConnectionFailure(error))
        if (!again || tries === 3) throw error
        await new Promise((resolve) => setTimeout(resolve, 20 * tries * Math.random()))
      }
    }
  }

  function query<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    limitMs?: number,
  ): Promise<Row[]> {
    return attempt<Row>(statement, values, false, limitMs).catch((error) => {
      throw asHookonceError(error)
    })
  }

  return {
    schema,
    inSchema: inSchema(schema),
    connections: log.options.max + reads.max + transactions.options.max + 1,
    prepared,
    timeoutMs,
    closing: closing.signal,
    client: () => newClient(direct ?? (log.options as ClientConfig)),
    hasDirectUrl,
    ownsTransactions: options.pool === undefined,
    sessions,
    transactions: forHandlers,
    query,
    read: reads.run,
    adhoc: (sql, values) => query(adhoc(sql), values),
    resend: (statement, values) => attempt(statement, values, true),
    async atomic(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await using(async (client) => {
            const command = (sql: string) => answerOf(client.query(sql), timeoutMs)
            await command(sessions.begin(timeoutMs))
            try {
              const value = await work(
                async (statement, values) => (await send(client, statement, values, timeoutMs)).rows,
              )
              await command('commit')
              return value
            } catch (error) {
              // A failure of the rollback replaces the cause, because it decides whether the connection is destroyed.
              if (!isConnectionFailure(error)) await command('rollback')
              throw error
            }
          })
        } catch (error) {
          const again = isRaceFailure(error) || isStatementLost(error)
          if (!again || tries === 3) throw asHookonceError(error)
        }
      }
    },
    async close() {
      if (closed) return
      closed = true
      closing.abort()
      forHandlers.close()
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve
        if (underWay === 0) resolve()
      })
      // A server that does not answer must not keep the process from ending.
      await answerOf(idle, CLOSE_MS).catch(() => {
        for (const client of inUse) destroy(client)
        return idle
      })
      const ended = Promise.all([reads.close(), end()])
      // A transaction that nobody ends must not keep it from ending either: the database rolls it back.
      await answerOf(ended, CLOSE_MS).catch(() => {
        forHandlers.breakAll()
        return ended
      })
    },
  }
}

const FIRST_TRY_MS = 2_500
const CLOSE_MS = 3_000
