/**
 * Reads have a separate small pool, so that lists and statistics that are slow or wait for a lock take no connection from
 * intake or leases. Each read is a transaction that contains its settings: it does not depend on the state of a session,
 * and the server cancels a statement that takes too long.
 */
import type { Pool, PoolClient, QueryConfig, QueryResultRow } from 'pg'
import { HookonceError } from '../../errors.js'
import { acquireMs, answerOf, giveBack, isFull, take } from './connection.js'
import { asHookonceError, isConnectionFailure, isRaceFailure, isStatementLost } from './failure.js'
import { BEGIN, LOCAL_FORMATS, type Sessions, transact } from './sessions.js'
import type { Run } from './statement.js'

/** Added to the server's own limit: an answer later than this does not come any more. */
const GRACE_MS = 1_000

export interface Reads {
  /** The size of the pool. */
  readonly max: number
  /** Runs one statement in a read-only transaction. Throws a HookonceError; STORE_BUSY when it takes too long. */
  readonly run: Run
  close(): Promise<void>
}

interface ReadsOptions {
  readonly timeoutMs: number
  prepared(statement: Parameters<Run>[0], values: unknown[]): QueryConfig
  readonly sessions: Sessions
}

export function openReads(pool: Pool, { timeoutMs, prepared, sessions }: ReadsOptions): Reads {
  const begin = `${BEGIN} read only; ${LOCAL_FORMATS}; set local statement_timeout = ${timeoutMs};
    set local lock_timeout = 0; set local enable_seqscan = off; set local jit = off;
    set local plan_cache_mode = force_generic_plan; set local search_path = pg_catalog, pg_temp;
    set local idle_in_transaction_session_timeout = ${timeoutMs + GRACE_MS}`
  let closed = false
  const underWay = new Set<Promise<unknown>>()

  async function connect(): Promise<PoolClient> {
    if (closed) throw new HookonceError('STORE_CLOSED')
    try {
      return await take(pool, acquireMs(pool))
    } catch (error) {
      if (!isFull(pool)) throw asHookonceError(error)
      throw new HookonceError('STORE_BUSY', {
        problem: `all ${pool.options.max} connections for reads are in use, and ${pool.waitingCount} more reads wait`,
      })
    }
  }

  async function once<Row extends QueryResultRow>(query: QueryConfig): Promise<Row[]> {
    const client = await connect()
    const limitMs = timeoutMs + GRACE_MS
    let failure: unknown = null
    try {
      return (await answerOf(transact<Row>(client, begin, query), limitMs)).rows
    } catch (error) {
      if (isStatementLost(error)) sessions.statementLost()
      if (isConnectionFailure(error) || isStatementLost(error)) failure = error
      throw error
    } finally {
      giveBack(pool, client, failure, limitMs)
    }
  }

  async function run<Row extends QueryResultRow>(statement: Parameters<Run>[0], values: unknown[]) {
    for (let tries = 1; ; tries++) {
      try {
        return await once<Row>(prepared(statement, values))
      } catch (error) {
        const again = isRaceFailure(error) || isStatementLost(error)
        if (!again || tries === 3) throw asHookonceError(error)
      }
    }
  }

  return {
    max: pool.options.max,
    run(statement, values) {
      const reading = run<never>(statement, values)
      const ended: Promise<unknown> = reading.catch(() => {}).finally(() => underWay.delete(ended))
      underWay.add(ended)
      return reading
    },
    async close() {
      closed = true
      await Promise.all(underWay)
      await pool.end()
    },
  }
}
