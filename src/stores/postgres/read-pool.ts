/**
 * Reads have a separate small pool, so that lists and statistics that are slow or wait for a lock take no connection from
 * intake or leases. Each read is a transaction that contains its settings: it does not depend on the state of a session,
 * and the server cancels a statement that takes too long.
 */
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import { HookonceError } from '../../errors.js'
import { acquireMs, answerOf, giveBack, isFull, take } from './connection.js'
import { asHookonceError, isConnectionFailure, isRaceFailure } from './failure.js'
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
}

export function openReads(pool: Pool, { timeoutMs, prepared }: ReadsOptions): Reads {
  const begin = `begin read only; set local statement_timeout = ${timeoutMs}; set local enable_seqscan = off;
    set local jit = off; set local plan_cache_mode = force_generic_plan`
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

  /** Sends begin, the statement and commit. On a pipelined connection this is one round trip. */
  async function transact<Row extends QueryResultRow>(client: PoolClient, query: QueryConfig) {
    if ((client as { pipeline?: boolean }).pipeline) {
      const [began, answered, ended] = await Promise.allSettled([
        client.query(begin),
        client.query<Row>(query),
        client.query('commit'),
      ])
      // The first failure is the cause. PostgreSQL turns the commit after it into a rollback.
      for (const step of [began, answered, ended]) if (step.status === 'rejected') throw step.reason
      return (answered as PromiseFulfilledResult<QueryResult<Row>>).value.rows
    }
    await client.query(begin)
    try {
      return (await client.query<Row>(query)).rows
    } finally {
      await client.query('commit')
    }
  }

  async function once<Row extends QueryResultRow>(query: QueryConfig): Promise<Row[]> {
    const client = await connect()
    const limitMs = timeoutMs + GRACE_MS
    let failure: unknown = null
    try {
      return await answerOf(transact<Row>(client, query), limitMs)
    } catch (error) {
      if (isConnectionFailure(error)) failure = error
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
        if (!isRaceFailure(error) || tries === 3) throw asHookonceError(error)
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
