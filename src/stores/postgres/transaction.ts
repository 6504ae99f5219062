/** A handler's transaction, on the application's pool: what it writes and its outcome commit together. */
import type { Writable } from 'node:stream'
import type { PoolClient, QueryResultRow } from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import type { Settlement } from '../../model.js'
import type { StoreTransaction, TransactionOptions } from '../../store.js'
import { checkEffect, checkSettlement, checkWatermark } from '../../store-input.js'
import { boundaryIn } from './boundary.js'
import { answerOf, isBusy } from './connection.js'
import { beginIdleFor, type Database, type Statement } from './database.js'
import { effect } from './effect.js'
import { asHookonceError, describe, isConnectionFailure, isTimedOut } from './failure.js'
import { applied, settling, tokenOf } from './settle.js'
import { advance } from './watermark.js'

/** Compatible with a node-postgres client as far as `query` goes; Drizzle, Kysely and Knex can be put on it. */
export type PostgresTx = Pick<PoolClient, 'query'>

const settleSucceeded: Statement = {
  name: 'settle_succeeded',
  sql: 'select hookonce.settle_succeeded($1, $2, $3)',
}

/** Raised by `settle_succeeded`. */
class LeaseDead extends Error {}

/** A statement of the handler that is still under way when the attempt is over gets no more; it is cancelled then. */
const BUSY_MS = 200
/** How long a transaction may stand idle when nobody said. */
const DEFAULT_IDLE_MS = 60_000

export async function beginTransaction(
  db: Database,
  { idleMs = DEFAULT_IDLE_MS }: TransactionOptions = {},
): Promise<StoreTransaction<PostgresTx>> {
  const client = await db.connect()
  let over: string | null = null

  function end(how: string, failure: unknown = null, limitMs = db.timeoutMs): void {
    over = how
    db.giveBack(client, failure, limitMs)
  }
  function open(): PoolClient {
    if (over) throw new HookonceError('TRANSACTION_CLOSED', { problem: over })
    return client
  }

  /** A statement of the log on the handler's connection. */
  async function run<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      return (await answerOf(open().query<Row>(db.prepared(statement, values)), db.timeoutMs)).rows
    } catch (error) {
      if (isTimedOut(error) && !over) end('its connection fell silent', error)
      throw asHookonceError(error)
    }
  }

  /** Two commands in one round trip; the second is not reached when the first raises. */
  async function finishOne({ lease, durationMs }: Settlement): Promise<boolean> {
    try {
      if ((client as { pipeline?: boolean }).pipeline) {
        process.nextTick(together(client))
        const settling = open().query(
          db.prepared(settleSucceeded, [lease.seq, tokenOf(lease.token), durationMs]),
        )
        settling.catch(() => {}) // the commit below is then a rollback, and asks for the reason
        await commit('commit', settling)
      } else {
        const call = `select hookonce.settle_succeeded(${Number(lease.seq)}, '${tokenOf(lease.token)}', ${Number(durationMs)}); commit`
        await commit(db.inSchema(call))
      }
      return true
    } catch (error) {
      if (!(error instanceof LeaseDead)) throw error
      return false
    }
  }

  async function commit(sql: string, before?: Promise<unknown>): Promise<void> {
    let answer: { command: string } | readonly { command: string }[]
    try {
      const committing = open().query(sql)
      committing.catch(() => {})
      const both = Promise.all([committing, before])
      answer = (await answerOf(both, db.timeoutMs))[0]
    } catch (error) {
      if (over) throw error
      if ((error as { code?: string }).code === 'HK001') {
        await rollback()
        throw new LeaseDead()
      }
      end('its commit failed', error)
      throw isConnectionFailure(error)
        ? new HookonceError('COMMIT_UNKNOWN', { problem: describe(error) })
        : asHookonceError(error)
    }
    end('it was committed')
    // PostgreSQL answers COMMIT of an aborted transaction with a rollback, and calls it a success.
    if ([answer].flat().at(-1)?.command === 'ROLLBACK') throw new HookonceError('TRANSACTION_ABORTED')
  }

  /** Soon over, also while a statement of the handler runs or nobody answers: the connection is destroyed then. */
  async function rollback(): Promise<void> {
    if (over) return
    const limitMs = isBusy(client) ? BUSY_MS : db.timeoutMs
    over = 'it was rolled back'
    const failure = await answerOf(client.query('rollback'), limitMs).then(
      () => null,
      (error: unknown) => error,
    )
    end(over, failure, limitMs)
  }

  // Not waited for: on a pipelined connection it travels with the handler's first statement.
  const send = together(client)
  answerOf(client.query(beginIdleFor(idleMs)), db.timeoutMs).catch((error: unknown) => {
    if (!over) end('it did not begin', error) // shows itself at the next step
  })
  process.nextTick(send)

  return {
    tx: {
      query: ((...args: Parameters<PoolClient['query']>) => {
        const boundary = boundaryIn(args[0])
        if (boundary !== null)
          throw invalid(
            `The statement ${boundary}`,
            'is not allowed in a handler, because hookonce begins and ends the transaction; use a savepoint',
          )
        return open().query(...args)
      }) as PoolClient['query'],
    },
    async settle(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      return applied(settlements.length, await run(...settling(settlements, 0)))
    },
    async finish(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      const [only] = settlements
      if (settlements.length === 1 && only!.outcome.kind === 'succeeded') return finishOne(only!)
      const settled = applied(settlements.length, await run(...settling(settlements, 0)))
      if (settled.every(Boolean)) await commit('commit')
      else await rollback()
      return settled.every(Boolean)
    },
    commit: () => commit('commit'),
    rollback,
    keys: {
      async advance(watermark) {
        checkWatermark(watermark)
        return (await run(advance, [watermark.source, watermark.key, watermark.value])).length === 1
      },
      async effect(step) {
        checkEffect(step)
        return effect(run, step)
      },
    },
  }
}

/** What is sent until the function is called leaves in one packet, where the driver lets us; else as it comes. */
function together(client: PoolClient): () => void {
  const { stream } = (client as { connection?: { stream?: Partial<Writable> } }).connection ?? {}
  if (!stream?.cork || !stream.uncork) return () => {}
  stream.cork()
  return () => stream.uncork!()
}
