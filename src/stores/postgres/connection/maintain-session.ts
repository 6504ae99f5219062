/**
 * Two connections for `maintain`. The first has a transaction with the advisory lock: a lock of the session would stay
 * behind in a session of a pooler. It holds no snapshot, so neither vacuum nor DETACH CONCURRENTLY waits for it.
 * Statements run on the second, each in a transaction that contains its settings, except DETACH CONCURRENTLY, which no
 * transaction may contain.
 */
import type { Client, QueryConfig, QueryResult } from 'pg'
import { answerOf, cancelStatement } from './client.js'
import type { Database } from './database.js'
import { isTimedOut } from './failure.js'
import { isOwnSession } from './sessions.js'
import { beginSql, formats, inTransaction, setSql } from './settings.js'
import { adhoc, type Run } from './statement.js'
import { Turns } from './turns.js'

const STATEMENT_MS = 300_000
/** The server ends a statement before this limit, unless the connection is broken. */
const ANSWER_MS = STATEMENT_MS + 30_000
/** A partition that is locked now can be dropped tomorrow. */
const LOCK_MS = 10_000
/** The transaction with the lock sends a query more often. */
const IDLE_MS = 60_000
const KEEP_ALIVE_MS = 15_000
const CLOSE_MS = 1_000

const settings = {
  ...formats,
  statement_timeout: STATEMENT_MS,
  lock_timeout: LOCK_MS,
  client_min_messages: 'warning',
  synchronous_commit: 'on',
}
const begin = beginSql(STATEMENT_MS, settings)

export class MaintainSession {
  readonly #db: Database
  readonly #holder: Client
  readonly #worker: Client
  readonly #holderTurns: Turns
  /** False when another process maintains the log now. */
  isLocked = false
  #lost: unknown = new Error('not connected')
  #keepingAlive: NodeJS.Timeout | undefined

  constructor(db: Database) {
    this.#db = db
    this.#holder = db.client()
    this.#worker = db.client()
    this.#holderTurns = new Turns(this.#holder)
    this.#holder.on('error', this.#lose)
  }

  async open(): Promise<void> {
    await Promise.all([this.#holder.connect(), this.#worker.connect()])
    this.#lost = null
    // DETACH CONCURRENTLY runs alone, so its limits can only be those of the session.
    if (await isOwnSession(this.#worker, this.#db.timeoutMs)) await this.#send(setSql(settings, 'set'))
    await this.#hold(beginSql(IDLE_MS))
    // No parameters: the portal of a query with parameters keeps its snapshot, and DETACH would wait for that.
    const key = `pg_catalog.hashtextextended('hookonce maintain ${this.#db.schema}', 0)`
    const { rows } = await this.#hold(`select pg_catalog.pg_try_advisory_xact_lock(${key}) as got`)
    this.isLocked = rows[0].got
    if (!this.isLocked) await this.#hold('rollback')
    else
      this.#keepingAlive = setInterval(() => this.#hold('select 1').catch(this.#lose), KEEP_ALIVE_MS).unref()
  }

  readonly run: Run = (statement, values) => this.atomic((run) => run(statement, values))

  async alone(sql: string): Promise<void> {
    await this.#send(this.#db.inSchema(sql))
  }

  atomic<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const run: Run = async ({ sql }, values) =>
      // No name: these statements are rare, and their session may be shared.
      (await this.#send(this.#db.prepared(adhoc(sql), values))).rows as never
    return inTransaction(
      begin,
      (sql) => this.#send(sql),
      () => work(run),
    )
  }

  async close(): Promise<void> {
    clearInterval(this.#keepingAlive)
    // A pooler would drop a session that is left inside a transaction, and the lock a moment later.
    if (this.#lost === null) await this.#hold('rollback', CLOSE_MS).catch(() => {})
    await Promise.all([this.#holder.end().catch(() => {}), this.#worker.end().catch(() => {})])
  }

  readonly #lose = (error: unknown): void => {
    this.#lost = error
  }

  #hold(sql: string, limitMs = this.#db.timeoutMs): Promise<QueryResult> {
    const sent = this.#holderTurns.take(() => this.#holder.query(sql))
    return answerOf(sent, limitMs)
  }

  /** Another process may maintain the log when the lock is lost. */
  async #send(sql: string | QueryConfig): Promise<QueryResult> {
    if (this.#lost !== null) throw this.#lost
    try {
      return await answerOf(this.#worker.query(sql as string), ANSWER_MS)
    } catch (error) {
      if (isTimedOut(error)) await cancelStatement(this.#worker)
      throw error
    }
  }
}
