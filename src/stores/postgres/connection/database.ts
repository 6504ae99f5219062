/**
 * The connections of a PostgreSQL store, and the statements of the log on them.
 *
 * | connections  | how many                  | settings                  | used for                              |
 * |--------------|---------------------------|---------------------------|---------------------------------------|
 * | log          | `maxConnections` (6)      | of the session, once      | record, claim, settle, every write    |
 * | reads        | half as many (3)          | of each transaction       | lists, statistics, payloads           |
 * | transactions | `maxTransactions` (10),   | none: they belong to the  | `ctx.tx` of handlers                  |
 * |              | or the application's pool | handler                   |                                       |
 * | listener     | 1, while somebody waits   | none                      | LISTEN (listener.ts)                  |
 * | maintenance  | 2, while `maintain` runs  | of each transaction       | partitions (maintain-session.ts)      |
 * | migration    | 1, while `migrate` runs   | of each transaction       | the schema (migrate.ts)               |
 *
 * The log has its own pool, so that handlers that take every connection of the application stop neither intake nor leases,
 * and reads that are slow or wait for a lock do not either. The pools open a connection when it is needed and close it
 * after 30 idle seconds; the last three kinds go to `directUrl` if there is one. The settings are in sessions.ts. Behind a
 * pooler the settings of the log, too, are those of each transaction.
 *
 * Limits: a connection must come within 5 s, a statement of the log or a read answer within
 * `statementTimeout`. A connection that does not answer is destroyed, and with it those that may be broken like it
 * (server-pool.ts).
 */
import type { Client, ClientConfig, PoolClient, QueryConfig, QueryResultRow } from 'pg'
import { msOf } from '../../../duration.js'
import { HookonceError } from '../../../errors.js'
import { answerOf, newClient } from './client.js'
import { isConnectionFailure, isRaceFailure, isStatementLost, throwHookonceError } from './failure.js'
import { openPools, type PartitionUnit, type PostgresOptions, settled } from './pools.js'
import { awaitStandby } from './replication.js'
import { ServerPool } from './server-pool.js'
import { beginSql, inTransaction, logSettings, Sessions, transact } from './sessions.js'
import { type InSchema, inSchema, preparer, type Run, type Statement } from './statement.js'
import { poolExhausted, TransactionPool } from './transaction-pool.js'

/** The limit of the first try of a record: a connection that does not answer must not use up the time of the sender. */
const FIRST_TRY_MS = 2_500
const TRIES = 3
/** Of a transaction that another one was in the way of: each time one of the two has got through. */
const RACE_TRIES = 10
/** Added to the server's limit for a read: an answer later than this does not come any more. */
const READ_GRACE_MS = 1_000

export class Database {
  readonly schema: string
  readonly inSchema: InSchema
  /** For a statement of the log. */
  readonly timeoutMs: number
  readonly hasDirectUrl: boolean
  readonly partitions: PartitionUnit
  /** This process opens at most this many for longer than a moment. */
  readonly connections: number
  readonly sessions: Sessions
  readonly transactions: TransactionPool
  readonly prepared: (statement: Statement, values: unknown[]) => QueryConfig
  readonly #log: ServerPool
  readonly #reads: ServerPool
  readonly #beginRead: string
  readonly #single: ClientConfig
  readonly #closing = new AbortController()

  constructor(given: PostgresOptions) {
    const options = settled(given)
    const { log, reads, transactions, direct } = openPools(options)
    this.schema = options.schema ?? 'hookonce'
    this.inSchema = inSchema(this.schema)
    this.timeoutMs = msOf(options.statementTimeout, '10s')
    this.hasDirectUrl = direct !== undefined
    this.partitions = options.partitions ?? 'month'
    this.connections = log.options.max + reads.options.max + transactions.options.max + 1
    this.sessions = new Sessions({ prepare: options.prepare, hasDirectUrl: this.hasDirectUrl })
    this.prepared = preparer(this.schema, () => this.sessions.named)
    this.#log = new ServerPool(log)
    this.#reads = new ServerPool(reads, {
      exhausted: ({ options: { max }, waitingCount }) =>
        new HookonceError('STORE_BUSY', {
          problem: `all ${max} connections for reads are in use, and ${waitingCount} more reads wait`,
        }),
    })
    const limits = { ...logSettings, statement_timeout: this.timeoutMs }
    this.#beginRead = beginSql(this.timeoutMs, limits, ' read only')
    const isOwn = options.pool === undefined
    const server = new ServerPool(transactions, { isOwn, exhausted: (_, ms) => poolExhausted(ms) })
    this.transactions = new TransactionPool(server, isOwn)
    this.#single = direct ?? (log.options as ClientConfig)
  }

  /** Aborted when `close` is called. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Runs one statement in its own transaction. Throws a HookonceError. */
  readonly query = <Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    limitMs?: number,
  ): Promise<Row[]> => this.send<Row>(statement, values, limitMs).catch(throwHookonceError)

  /** Throws the error of the driver, so that callers can distinguish failures. */
  send<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    limitMs = this.timeoutMs,
  ): Promise<Row[]> {
    const once = (client: PoolClient) => this.#alone<Row>(client, statement, values, limitMs)
    return this.#retry(() => this.#onLog(limitMs, once))
  }

  /**
   * `send` for statements that may be sent again after a broken connection, because they recognise rows that they have
   * already written.
   */
  resend<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    let isSent = false
    const send = (tries: number) => {
      isSent = false
      const limitMs = tries === 1 ? Math.min(this.timeoutMs, FIRST_TRY_MS) : this.timeoutMs
      return this.#onLog(limitMs, async (client) => {
        isSent = true
        const rows = await this.#alone<Row>(client, statement, values, limitMs)
        // The statement may have found the rows of its first try, whose wait for the standby was cancelled.
        if (tries > 1) await this.#alone(client, awaitStandby, [], limitMs)
        return rows
      })
    }
    return this.#retry(send, (error) => isSent && isConnectionFailure(error))
  }

  /** Runs `work` between begin and commit on a connection of the log. */
  atomic<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const limitMs = this.timeoutMs
    const once = (client: PoolClient) => {
      const run: Run = async (statement, values) =>
        (await answerOf(client.query(this.prepared(statement, values)), limitMs)).rows
      const command = (sql: string) => answerOf(client.query(sql), limitMs)
      return inTransaction(this.sessions.begin(limitMs), command, () => work(run))
    }
    return this.#retry(() => this.#onLog(limitMs, once)).catch(throwHookonceError)
  }

  /** Runs one statement in a read-only transaction, whose time the server limits: STORE_BUSY when it takes too long. */
  readonly read: Run = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => {
    const limitMs = this.timeoutMs + READ_GRACE_MS
    const once = async (client: PoolClient) => {
      const answer = transact<Row>(client, this.#beginRead, this.prepared(statement, values))
      return (await answerOf(answer, limitMs)).rows
    }
    return this.#retry(() => this.#reads.use(limitMs, once)).catch(throwHookonceError)
  }

  /** A connection outside every pool, not connected yet: to listen, to migrate, to maintain. */
  client(): Client {
    return newClient(this.#single)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#log.close(), this.#reads.close(), this.transactions.close()])
  }

  #onLog<T>(limitMs: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#log.use(limitMs, async (client) => {
      const configuring = this.sessions.configure(client, limitMs)
      if (configuring) await configuring
      return work(client)
    })
  }

  /** A statement that is a transaction. In a shared session the transaction contains its settings. */
  async #alone<Row extends QueryResultRow>(
    client: PoolClient,
    statement: Statement,
    values: unknown[],
    limitMs: number,
  ): Promise<Row[]> {
    const query = this.prepared(statement, values)
    const answer = this.sessions.shared
      ? transact<Row>(client, this.sessions.begin(limitMs), query)
      : client.query<Row>(query)
    return (await answerOf(answer, limitMs)).rows
  }

  async #retry<T>(
    send: (tries: number) => Promise<T>,
    isRetried: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await send(tries)
      } catch (error) {
        const isLost = isStatementLost(error)
        if (isLost) this.sessions.statementLost()
        const most = isRaceFailure(error) ? RACE_TRIES : isLost || isRetried(error) ? TRIES : 1
        if (tries >= most) throw error
        await new Promise((resolve) => setTimeout(resolve, 20 * tries * Math.random()))
      }
    }
  }
}
