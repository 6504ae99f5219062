/**
 * The connections of a PostgreSQL store, and the statements of the log on them.
 *
 * | connections  | how many                  | settings                  | used for                              |
 * |--------------|---------------------------|---------------------------|---------------------------------------|
 * | log          | `maxConnections` (4)      | of the session, once      | record, claim, settle, every write    |
 * | reads        | half as many (2)          | of each transaction       | lists, statistics, payloads           |
 * | transactions | `maxTransactions` (10),   | none: they belong to the  | `ctx.tx` of handlers                  |
 * |              | or the application's pool | handler                   |                                       |
 * | listener     | 1, while somebody waits   | none                      | LISTEN (listener.ts)                  |
 * | maintenance  | 2, while `maintain` runs  | of each transaction       | partitions (maintain-session.ts)      |
 * | migration    | 1, while `migrate` runs   | of each transaction       | the schema (migrate.ts)               |
 *
 * The log has its own pool: handlers that take every connection of the application, and reads that are slow or wait for a
 * lock, stop neither intake nor leases. The last three kinds go to `directUrl` if there is one. Behind a pooler each
 * transaction of the log contains its settings (sessions.ts).
 *
 * A connection must come within 5 s, and a statement of the log or a read must answer within `statementTimeout`. A
 * connection that does not answer is destroyed, and with it those that may be broken like it (server-pool.ts).
 */
import type { Client, ClientConfig, PoolClient, QueryConfig, QueryResultRow } from 'pg'
import { msOf } from '../../../duration.js'
import { HookonceError } from '../../../errors.js'
import { answerOf, newClient } from './client.js'
import { isConnectionFailure, isRaceFailure, isStatementLost, throwHookonceError } from './failure.js'
import { openPools, type PartitionUnit, type PostgresOptions, withUrlOptions } from './pools.js'
import { awaitStandby } from './replication.js'
import { ServerPool } from './server-pool.js'
import { Sessions } from './sessions.js'
import { beginSql, inTransaction, logSettings, transact } from './settings.js'
import { type InSchema, inSchema, preparer, type Run, type Statement } from './statement.js'
import { poolExhausted, TransactionPool } from './transaction-pool.js'

/** A sender waits for a record: its first try must not use up the time on a connection that does not answer. */
const FIRST_TRY_MS = 2_500
const TRIES = 3
const RACE_TRIES = 10
/** The server ends a read at its limit. An answer that is this much later will not come. */
const READ_GRACE_MS = 1_000

export class Database {
  readonly schema: string
  readonly inSchema: InSchema
  readonly timeoutMs: number
  readonly hasDirectUrl: boolean
  readonly partitions: PartitionUnit
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
    const options = withUrlOptions(given)
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
    this.transactions = new TransactionPool(
      new ServerPool(transactions, { isOwn, exhausted: (_, waitedMs) => poolExhausted(waitedMs) }),
    )
    this.#single = direct ?? (log.options as ClientConfig)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Runs one statement in its own transaction. Throws a HookonceError. */
  readonly query = <Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    limitMs?: number,
  ): Promise<Row[]> => this.send<Row>(statement, values, limitMs).catch(throwHookonceError)

  /** Throws the error of the driver: callers distinguish failures by it. */
  send<Row extends QueryResultRow>(
    statement: Statement,
    values: unknown[],
    limitMs = this.timeoutMs,
  ): Promise<Row[]> {
    const once = (client: PoolClient) => this.#alone<Row>(client, statement, values, limitMs)
    return this.#retry(() => this.#onLog(limitMs, once))
  }

  /** Sends the statement again after a broken connection. It must recognise rows that it has already written. */
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

  /** `work` runs again when another transaction was in the way. */
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

  /** The server limits the time: STORE_BUSY when the read takes too long. */
  readonly read: Run = <Row extends QueryResultRow>(statement: Statement, values: unknown[]) => {
    const limitMs = this.timeoutMs + READ_GRACE_MS
    const once = async (client: PoolClient) => {
      const answer = transact<Row>(client, this.#beginRead, this.prepared(statement, values))
      return (await answerOf(answer, limitMs)).rows
    }
    return this.#retry(() => this.#reads.use(limitMs, once)).catch(throwHookonceError)
  }

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

  /** A shared session needs a transaction that contains its settings. */
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
