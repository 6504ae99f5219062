/**
 * Connections. The log's own statements run on a small pool that nobody else uses, so that handlers which hold
 * every connection of the application's pool stop neither intake nor leases. Handlers' transactions run on the
 * application's pool.
 */
import type {
  Client,
  ClientBase,
  ClientConfig,
  PoolClient,
  QueryConfig,
  QueryResult,
  QueryResultRow,
} from 'pg'
import { HookonceError } from '../../errors.js'
import { acquireMs, answerOf, destroy, giveBack, isFull, newClient, take } from './connection.js'
import {
  asHookonceError,
  isConnectionFailure,
  isPoolExhausted,
  isRaceFailure,
  isTimedOut,
} from './failure.js'
import { openPools, type PostgresOptions, readTimeoutMs } from './pools.js'
import { openReads } from './read-pool.js'
import { adhoc, type InSchema, inSchema, preparer, type Run, type Statement } from './statement.js'

export interface Database {
  readonly schema: string
  readonly inSchema: InSchema
  /** The most that this process may open: the log's own, those for reads, the handlers', and the one that listens. */
  readonly connections: number
  /** Runs one statement in a transaction of its own. Throws errors of our table. */
  query<Row extends QueryResultRow>(statement: Statement, values: unknown[], limitMs?: number): Promise<Row[]>
  /**
   * The same for statements that may be sent again after a broken connection because they recognise their own
   * work. Throws what the driver throws, for callers that tell failures apart.
   */
  resend<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]>
  /** The same for SQL put together for one call. */
  adhoc<Row extends QueryResultRow>(sql: string, values: unknown[]): Promise<Row[]>
  /** A read, on a connection that neither intake nor leases use. Bounded in time by the server. */
  read: Run
  /** Runs `work` between begin and commit on a connection of the log. */
  atomic<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** How long a statement may take. */
  readonly timeoutMs: number
  /** A connection of the application's pool. POOL_EXHAUSTED when none became free in time. */
  connect(): Promise<PoolClient>
  /** Ends the use of a connection from `connect`; after a failure it is destroyed. */
  giveBack(client: PoolClient, failure?: unknown, limitMs?: number): void
  /** A connection outside every pool, not connected yet: for listening. */
  client(): Client
  /** The statement as the driver takes it, for use on a client from `connect`. */
  prepared(statement: Statement, values: unknown[]): QueryConfig
  /** Aborted when `close` is called. */
  readonly closing: AbortSignal
  close(): Promise<void>
}

export function openDatabase(options: PostgresOptions): Database {
  const schema = options.schema ?? 'hookonce'
  const prepared = preparer(schema, options.prepare !== false)
  const { log, reads: readPool, transactions, end } = openPools(options)
  const timeoutMs = options.statementTimeoutMs ?? 10_000
  const reads = openReads(readPool, { timeoutMs: readTimeoutMs(options), prepared })
  const inUse = new Set<PoolClient>()
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

  /** Hands out a connection of the log; one that failed is destroyed, because its state is not known. */
  async function using<T>(work: (client: PoolClient) => Promise<T>, limitMs = timeoutMs): Promise<T> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    underWay++
    try {
      const client = await take(log, acquireMs(log))
      inUse.add(client)
      let failure: unknown = null
      try {
        if (!settled.has(client)) {
          await answerOf(client.query(sessionSettings), limitMs)
          settled.add(client)
        }
        return await work(client)
      } catch (error) {
        if (isConnectionFailure(error)) failure = error
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
      // A connection that fell silent must not use up the time of a sender that waits: the second try is on another.
      const limitMs = resend && tries === 1 ? Math.min(mostMs, FIRST_TRY_MS) : mostMs
      try {
        return await using(async (client) => {
          sent = true
          return (await send(client, statement, values, limitMs)).rows as Row[]
        }, limitMs)
      } catch (error) {
        const again = isRaceFailure(error) || (resend && sent && isConnectionFailure(error))
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
    client: () => newClient(log.options as ClientConfig),
    async connect() {
      if (closed) throw new HookonceError('STORE_CLOSED')
      const waitMs = acquireMs(transactions)
      try {
        return await take(transactions, waitMs)
      } catch (error) {
        const exhausted = isPoolExhausted(error) || (isTimedOut(error) && isFull(transactions))
        throw exhausted ? new HookonceError('POOL_EXHAUSTED', { waitedMs: waitMs }) : asHookonceError(error)
      }
    },
    giveBack: (client, failure, limitMs) => giveBack(transactions, client, failure, limitMs),
    query,
    read: reads.run,
    adhoc: (sql, values) => query(adhoc(sql), values),
    resend: (statement, values) => attempt(statement, values, true),
    async atomic(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await using(async (client) => {
            const say = (sql: string) => answerOf(client.query(sql), timeoutMs)
            await say(beginIdleFor(timeoutMs))
            try {
              const value = await work(
                async (statement, values) => (await send(client, statement, values, timeoutMs)).rows,
              )
              await say('commit')
              return value
            } catch (error) {
              // An error here hides the cause, but says what became of the connection.
              if (!isConnectionFailure(error)) await say('rollback')
              throw error
            }
          })
        } catch (error) {
          if (!isRaceFailure(error) || tries === 3) throw asHookonceError(error)
        }
      }
    },
    async close() {
      if (closed) return
      closed = true
      closing.abort()
      const idle = new Promise<void>((resolve) => {
        whenIdle = resolve
        if (underWay === 0) resolve()
      })
      // A server that is silent now must not keep the process from ending.
      await answerOf(idle, CLOSE_MS).catch(() => {
        for (const client of inUse) destroy(client)
        return idle
      })
      await Promise.all([reads.close(), end()])
    },
  }
}

/**
 * An acknowledgement promises a flushed commit, also where the server's default does not (promise 1). Every statement
 * of the log goes through an index; a plan made while a table was small must not become a scan when it has grown, and
 * compiling such plans costs more than running them, as does planning them anew each time.
 */
const sessionSettings = `select set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
  set_config('plan_cache_mode', 'force_generic_plan', false),
  case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', false) end`

/** Connections of the log that have their session settings. */
const settled = new WeakSet<ClientBase>()

const FIRST_TRY_MS = 2_500
const CLOSE_MS = 3_000

/**
 * When the connection falls silent between two statements, the server does not know: it would keep the transaction, and
 * its locks, until the operating system gives the connection up, which takes hours. Only for this transaction: nothing
 * is left behind in the session.
 */
export function beginIdleFor(idleMs: number): string {
  return `begin; set local idle_in_transaction_session_timeout = ${Math.round(idleMs + GRACE_MS)}`
}

const GRACE_MS = 5_000
