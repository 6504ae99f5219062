/** The transaction of a handler, on the application's pool: its writes and its outcome commit together. */
import type { PoolClient, QueryResultRow } from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import type { Settlement } from '../../model.js'
import { checkEffect, checkSettlement, checkWatermark } from '../../store/input.js'
import type { StoreTransaction, TransactionOptions } from '../../store.js'
import { answerOf, corked, isBusy } from './connection.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isConnectionFailure, isStatementLost, isTimedOut } from './failure.js'
import { advanceWatermark, effect } from './keys.js'
import { beginIdleFor, beginInOwnSession } from './sessions.js'
import {
  applied,
  groupValues,
  LEASE_EXPIRED,
  settleGroup,
  settleSucceeded,
  settleSucceededSql,
  settling,
  succeededValues,
} from './settle.js'
import type { Statement } from './statement.js'
import { isPipelined, turnsOf } from './turns.js'

/** The `query` method of a node-postgres client. `asClient` makes a client for Drizzle, Kysely and Knex from it. */
export type PostgresTx = Pick<PoolClient, 'query'>

/** The lease had expired when `settle_succeeded` was called. */
class LeaseExpired extends Error {}

/** An answer to one command, or to several in one text. */
type CommandAnswer = { command: string } | readonly { command: string }[]

/** PostgreSQL reports COMMIT of an aborted transaction as a success, with the command tag ROLLBACK. */
function insistOnCommit(answer: CommandAnswer | null): void {
  if ([answer].flat().at(-1)?.command === 'ROLLBACK') throw new HookonceError('TRANSACTION_ABORTED')
}

/** Time that a statement of the handler may still run when the attempt is over; then it is cancelled. */
const BUSY_MS = 200
/** The limit on idle time when the caller sets none. */
const DEFAULT_IDLE_MS = 60_000

export async function beginTransaction(
  db: Database,
  { idleMs = DEFAULT_IDLE_MS }: TransactionOptions = {},
): Promise<StoreTransaction<PostgresTx>> {
  const client = await db.transactions.take()
  const turns = turnsOf(client)
  /** Why the transaction is closed; null while it is open. */
  let over: string | null = null
  /** Set before the commit is sent: a later statement of the handler would run outside the transaction. */
  let committing = false

  function end(how: string, failure: unknown = null, limitMs = db.timeoutMs): void {
    over = how
    db.transactions.giveBack(client, failure, limitMs)
  }
  function open(): PoolClient {
    if (over) throw new HookonceError('TRANSACTION_CLOSED', { problem: over })
    return client
  }

  /** A statement of the log on the handler's connection. */
  async function run<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      const sent = turns.take(async () => open().query<Row>(db.prepared(statement, values)))
      return (await answerOf(sent, db.timeoutMs)).rows
    } catch (error) {
      if (isStatementLost(error)) db.sessions.statementLost()
      if (isTimedOut(error) && !over) end('its connection stopped answering', error)
      throw asHookonceError(error)
    }
  }

  /**
   * Settles and commits in one packet. The commit has no effect when the settlement raises an error. The connection is offered
   * to the next transaction at once, so nothing may be sent for this one any more.
   */
  async function finishPipelined(
    settlements: readonly Settlement[],
    onSent: (() => void) | undefined,
  ): Promise<boolean> {
    open()
    process.nextTick(corked(client))
    const settled = client.query(
      settlements.length === 1
        ? db.prepared(settleSucceeded, succeededValues(settlements[0]!))
        : db.prepared(settleGroup, groupValues(settlements)),
    )
    const committed = client.query('commit')
    over = 'it is being committed'
    const ended = inOwnSession ? db.transactions.offer(client) : null
    if (ended) onSent?.()
    const [failed, answer] = await answers(settled, committed)
    const isExpired = (failed?.error as { code?: string } | undefined)?.code === LEASE_EXPIRED
    over = failed ? 'its commit failed' : 'it was committed'
    const failure = failed && !isExpired ? failed.error : null
    if (ended) ended(failure, db.timeoutMs)
    else db.transactions.giveBack(client, failure, db.timeoutMs)
    if (isExpired) return false
    if (failed) throw commitFailure(failed.error)
    insistOnCommit(answer)
    return true
  }

  /** The first failure, after both statements have ended; and the answer to the second one. */
  async function answers(
    settled: Promise<unknown>,
    committed: Promise<CommandAnswer>,
  ): Promise<readonly [{ readonly error: unknown } | null, CommandAnswer | null]> {
    settled.catch(() => {})
    try {
      const answer = await answerOf(committed, db.timeoutMs)
      // On one connection the answers arrive in order: this one is known by now.
      const error = await settled.then(
        () => null,
        (why: unknown) => ({ error: why }),
      )
      return [error, answer]
    } catch (error) {
      return [{ error }, null]
    }
  }

  /** The same for a connection that takes one statement at a time. */
  async function finishOne(settlement: Settlement): Promise<boolean> {
    try {
      await commit(db.inSchema(`${settleSucceededSql(settlement)}; commit`))
      return true
    } catch (error) {
      if (!(error instanceof LeaseExpired)) throw error
      return false
    }
  }

  async function commit(sql: string): Promise<void> {
    let answer: CommandAnswer
    committing = true
    try {
      answer = await answerOf(
        turns.take(async () => open().query(sql)),
        db.timeoutMs,
      )
    } catch (error) {
      if (over) throw error
      if ((error as { code?: string }).code === LEASE_EXPIRED) {
        await rollback()
        throw new LeaseExpired()
      }
      end('its commit failed', error)
      throw commitFailure(error)
    }
    end('it was committed')
    insistOnCommit(answer)
  }

  function commitFailure(error: unknown): HookonceError {
    if (isStatementLost(error)) db.sessions.statementLost()
    return isConnectionFailure(error)
      ? new HookonceError('COMMIT_UNKNOWN', { problem: describe(error) })
      : asHookonceError(error)
  }

  /** Has a time limit, also while a statement of the handler runs; after it the connection is destroyed. */
  async function rollback(): Promise<void> {
    if (over) return
    const limitMs = isBusy(client) ? BUSY_MS : db.timeoutMs
    over = 'it was rolled back'
    // Statements of the handler that have not been sent yet find the transaction closed at their turn.
    const rolledBack = turns.take(() => client.query('rollback'))
    const failure = await answerOf(rolledBack, limitMs).then(
      () => null,
      (error: unknown) => error,
    )
    end(over, failure, limitMs)
  }

  // There is no await: on a pipelined connection `begin` is sent together with the handler's first statement.
  const send = corked(client)
  const inOwnSession = isPipelined(client) && db.ownsTransactions && db.sessions.own
  const begun = turns.take<unknown>(() =>
    inOwnSession ? beginInOwnSession(client, idleMs) : client.query(beginIdleFor(idleMs)),
  )
  answerOf(begun, db.timeoutMs).catch((error: unknown) => {
    if (!over) end('it did not begin', error) // the next statement then throws TRANSACTION_CLOSED
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
        if (committing && !over)
          throw new HookonceError('TRANSACTION_CLOSED', { problem: 'it is being committed' })
        open()
        return turns.query(open, args)
      }) as PoolClient['query'],
    },
    async settle(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      return applied(settlements.length, await run(...settling(settlements, 0)))
    },
    async finish(settlements, onSent) {
      for (const settlement of settlements) checkSettlement(settlement)
      if (settlements.length > 0 && settlements.every(({ outcome }) => outcome.kind === 'succeeded')) {
        if (isPipelined(client)) return finishPipelined(settlements, onSent)
        if (settlements.length === 1) return finishOne(settlements[0]!)
      }
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

/** A statement that begins or ends a transaction. In a handler it would separate the effects from the outcome. */
export type Boundary = 'begin' | 'commit' | 'rollback'

/** Blanks and comments before the statement. */
const COMMENTS = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/
const WORDS =
  /^(?:(begin|start\s+transaction)|(commit|end|prepare\s+transaction)|(abort|rollback(?!(?:\s+(?:work|transaction))?\s+to\b)))\b/i

/** Takes a query as node-postgres does: a text, or an object with `text`. Null for every other statement. */
export function boundaryIn(query: unknown): Boundary | null {
  const text = typeof query === 'string' ? query : (query as { readonly text?: unknown } | null)?.text
  if (typeof text !== 'string') return null
  const [, begin, commit, rollback] = WORDS.exec(text.replace(COMMENTS, '')) ?? []
  if (begin !== undefined) return 'begin'
  if (commit !== undefined) return 'commit'
  return rollback === undefined ? null : 'rollback'
}
