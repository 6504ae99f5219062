/** A handler's transaction, on the application's pool: what it writes and its outcome commit together. */
import type { Writable } from 'node:stream'
import type { PoolClient, QueryResultRow } from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import type { Settlement } from '../../model.js'
import { checkEffect, checkSettlement, checkWatermark } from '../../store/input.js'
import type { StoreTransaction, TransactionOptions } from '../../store.js'
import { answerOf, isBusy } from './connection.js'
import { beginIdleFor, type Database } from './database.js'
import { asHookonceError, describe, isConnectionFailure, isTimedOut } from './failure.js'
import { advanceWatermark, effect } from './keys.js'
import {
  applied,
  LEASE_EXPIRED,
  settleSucceeded,
  settleSucceededSql,
  settling,
  succeededValues,
} from './settle.js'
import type { Statement } from './statement.js'

/** Compatible with a node-postgres client as far as `query` goes; Drizzle, Kysely and Knex can be put on it. */
export type PostgresTx = Pick<PoolClient, 'query'>

/** The lease had expired when `settle_succeeded` was called. */
class LeaseExpired extends Error {}

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
  async function finishSucceeded(settlement: Settlement): Promise<boolean> {
    try {
      if ((client as { pipeline?: boolean }).pipeline) {
        process.nextTick(corked(client))
        const settled = open().query(db.prepared(settleSucceeded, succeededValues(settlement)))
        settled.catch(() => {}) // `commit` below waits for it and handles the failure
        await commit('commit', settled)
      } else {
        await commit(db.inSchema(`${settleSucceededSql(settlement)}; commit`))
      }
      return true
    } catch (error) {
      if (!(error instanceof LeaseExpired)) throw error
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
      if ((error as { code?: string }).code === LEASE_EXPIRED) {
        await rollback()
        throw new LeaseExpired()
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
  const send = corked(client)
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
      if (settlements.length === 1 && only!.outcome.kind === 'succeeded') return finishSucceeded(only!)
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
        return (await run(advanceWatermark, [watermark.source, watermark.key, watermark.value])).length === 1
      },
      async effect(step) {
        checkEffect(step)
        return effect(run, step)
      },
    },
  }
}

/** What is sent until the function is called leaves in one packet, where the driver lets us; else as it comes. */
function corked(client: PoolClient): () => void {
  const { stream } = (client as { connection?: { stream?: Partial<Writable> } }).connection ?? {}
  if (!stream?.cork || !stream.uncork) return () => {}
  stream.cork()
  return () => stream.uncork!()
}

/** A statement that begins or ends a transaction. In a handler it would separate the effects from the outcome. */
export type Boundary = 'begin' | 'commit' | 'rollback'

/** Comments in front of the statement. */
const COMMENTS = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/
const WORDS =
  /^(?:(begin|start\s+transaction)|(commit|end|prepare\s+transaction)|(abort|rollback(?!(?:\s+(?:work|transaction))?\s+to\b)))\b/i

/** As node-postgres takes a query: a text, or an object with one. Null for every other statement. */
export function boundaryIn(query: unknown): Boundary | null {
  const text = typeof query === 'string' ? query : (query as { readonly text?: unknown } | null)?.text
  if (typeof text !== 'string') return null
  const [, begin, commit, rollback] = WORDS.exec(text.replace(COMMENTS, '')) ?? []
  if (begin !== undefined) return 'begin'
  if (commit !== undefined) return 'commit'
  return rollback === undefined ? null : 'rollback'
}
