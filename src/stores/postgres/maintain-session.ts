/**
 * The connections of `maintain`. The advisory lock belongs to a transaction that stays open on a connection of its own:
 * a lock of the session would stay behind in a session of a pooler. The transaction holds no snapshot, so neither vacuum
 * nor DETACH CONCURRENTLY waits for it. Statements run on another connection, each in a transaction with its own
 * settings; DETACH CONCURRENTLY, which is not allowed in a transaction, runs alone.
 */
import type { Client, QueryConfig } from 'pg'
import { answerOf, cancelStatement } from './connection.js'
import type { Database } from './database.js'
import { isConnectionFailure, isTimedOut } from './failure.js'
import { beginIdleFor, isOwnSession, LOCAL_FORMATS } from './sessions.js'
import type { Run } from './statement.js'
import { turnsOf } from './turns.js'

export interface MaintainSession {
  /** False when another process maintains the log now. */
  readonly isLocked: boolean
  /** Runs one statement in its own transaction. */
  readonly run: Run
  /** Runs one command outside a transaction. */
  alone(sql: string): Promise<void>
  /** Runs `work` between begin and commit. */
  atomic<T>(work: (run: Run) => Promise<T>): Promise<T>
  /** Ends the connections, and with them the lock. */
  close(): Promise<void>
}

/** The server's limit on one statement. */
const STATEMENT_MS = 300_000
/** Longer than the server's own limit, so that it is only reached when the connection is broken. */
const ANSWER_MS = STATEMENT_MS + 30_000
/** A partition that is locked now can be dropped tomorrow. */
const LOCK_MS = 10_000
/** The limit on idle time of the transaction with the lock, which sends a query more often than that. */
const IDLE_MS = 60_000
const KEEP_ALIVE_MS = 15_000
const CLOSE_MS = 1_000

const limits = { statement_timeout: STATEMENT_MS, lock_timeout: LOCK_MS, client_min_messages: 'warning' }
const set = (local: string) =>
  [...Object.entries(limits), ['synchronous_commit', 'on'], ['search_path', 'pg_catalog, pg_temp']]
    .map(([name, value]) => `set ${local}${name} = ${value}`)
    .join('; ')
const begin = `${beginIdleFor(STATEMENT_MS)}; ${LOCAL_FORMATS}; ${set('local ')}`

export async function openMaintainSession(db: Database): Promise<MaintainSession> {
  const [holder, worker] = [db.client(), db.client()]
  const turns = turnsOf(holder)
  /** Why the lock is lost; null while the connection works. */
  let lost: unknown = new Error('not connected')
  let keepingAlive: NodeJS.Timeout | undefined
  holder.on('error', (error) => {
    lost = error
  })

  async function close(): Promise<void> {
    clearInterval(keepingAlive)
    // A pooler would drop a session that is left inside a transaction, and the lock a moment later.
    if (lost === null)
      await answerOf(
        turns.take(() => holder.query('rollback')),
        CLOSE_MS,
      ).catch(() => {})
    await Promise.all([holder.end().catch(() => {}), worker.end().catch(() => {})])
  }

  /** Without the lock, another process may maintain the log now. */
  async function send(sql: string | QueryConfig) {
    if (lost !== null) throw lost
    try {
      return await answerOf(worker.query(sql as string), ANSWER_MS)
    } catch (error) {
      if (isTimedOut(error)) await cancelStatement(worker)
      throw error
    }
  }
  const inside: Run = async (statement, values) =>
    // Without a name: these statements are rare, and their session may be shared.
    (await send(db.prepared({ name: '', sql: statement.sql }, values))).rows as never

  async function atomic<T>(work: (run: Run) => Promise<T>): Promise<T> {
    await send(begin)
    try {
      const value = await work(inside)
      await send('commit')
      return value
    } catch (error) {
      if (!isConnectionFailure(error)) await send('rollback').catch(() => {})
      throw error
    }
  }

  try {
    await Promise.all([holder.connect(), worker.connect()])
    lost = null
    // DETACH CONCURRENTLY runs alone, so its limits can only be those of the session.
    if (await isOwnSession(worker, db.timeoutMs)) await send(set(''))
    const isLocked = await lock(holder, db)
    if (isLocked)
      keepingAlive = setInterval(() => {
        answerOf(
          turns.take(() => holder.query('select 1')),
          db.timeoutMs,
        ).catch((error) => {
          lost = error
        })
      }, KEEP_ALIVE_MS).unref()
    return {
      isLocked,
      run: (statement, values) => atomic((run) => run(statement, values)),
      async alone(sql) {
        await send(db.inSchema(sql))
      },
      atomic,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function lock(holder: Client, db: Database): Promise<boolean> {
  await answerOf(holder.query(beginIdleFor(IDLE_MS)), db.timeoutMs)
  // Without parameters: the portal of a query with parameters keeps its snapshot, and DETACH would wait for that.
  const key = `pg_catalog.hashtextextended('hookonce maintain ${db.schema}', 0)`
  const { rows } = await answerOf(
    holder.query<{ got: boolean }>(`select pg_catalog.pg_try_advisory_xact_lock(${key}) as got`),
    db.timeoutMs,
  )
  if (!rows[0]!.got) await answerOf(holder.query('rollback'), db.timeoutMs)
  return rows[0]!.got
}
