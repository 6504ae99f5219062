/** A handler's transaction, on the application's pool: what it writes and its outcome commit together. */
import type { PoolClient } from 'pg'
import { HookonceError } from '../../errors.js'
import { checkSettlement, type StoreTransaction } from '../../store.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isConnectionFailure } from './failure.js'
import { settling } from './settle.js'

/** Compatible with a node-postgres client as far as `query` goes; Drizzle, Kysely and Knex can be put on it. */
export type PostgresTx = Pick<PoolClient, 'query'>

export async function beginTransaction(db: Database): Promise<StoreTransaction<PostgresTx>> {
  const client = await db.connect()
  let over: string | null = null
  // A client that is checked out reports a broken connection here as well; the next query reports it to the caller.
  client.on('error', ignore)

  function end(how: string, broken: boolean): void {
    over = how
    client.off('error', ignore)
    client.release(broken)
  }
  function open(): PoolClient {
    if (over) throw new HookonceError('TRANSACTION_CLOSED', { problem: over })
    return client
  }

  try {
    await client.query('begin')
  } catch (error) {
    end('it did not begin', true)
    throw asHookonceError(error)
  }

  return {
    tx: {
      query: ((...args: Parameters<PoolClient['query']>) => open().query(...args)) as PoolClient['query'],
    },
    async settle(settlement) {
      checkSettlement(settlement)
      const [statement, values] = settling([settlement], 0)
      try {
        return (await open().query(db.prepared(statement, values))).rows.length === 1
      } catch (error) {
        throw asHookonceError(error)
      }
    },
    async commit() {
      let answer: { command: string }
      try {
        answer = await open().query('commit')
      } catch (error) {
        const unknown = isConnectionFailure(error)
        if (!over) end('its commit failed', true)
        throw unknown
          ? new HookonceError('COMMIT_UNKNOWN', { problem: describe(error) })
          : asHookonceError(error)
      }
      end('it was committed', false)
      // PostgreSQL answers COMMIT of an aborted transaction with a rollback, and calls it a success.
      if (answer.command === 'ROLLBACK') throw new HookonceError('TRANSACTION_ABORTED')
    },
    async rollback() {
      if (over) return
      const broken = await client.query('rollback').then(
        () => false,
        () => true,
      )
      end('it was rolled back', broken)
    },
  }
}

function ignore(): void {}
