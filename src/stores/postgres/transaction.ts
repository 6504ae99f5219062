/** The transaction of a handler, on the application's pool: its writes and its outcome commit together. */
import type { PoolClient, QueryResultRow } from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import type { Settlement } from '../../model.js'
import { checkEffect, checkSettlement, checkWatermark } from '../../store/input.js'
import type { StoreTransaction, TransactionOptions } from '../../store.js'
import { answerOf, corked, isBusy, isOutsideTransaction } from './connection.js'
import type { Database } from './database.js'
import { asHookonceError, describe, isConnectionFailure, isStatementLost, isTimedOut } from './failure.js'
import { readSql } from './handler-sql.js'
import { advanceWatermark, effect } from './keys.js'
import type { PinnedLeases } from './pinned-leases.js'
import { beginIdleFor, beginInOwnSession } from './sessions.js'
import {
  applied,
  groupValues,
  LEASE_EXPIRED,
  promote,
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

/** A connection that goes back with this is replaced by a new one. */
const sessionChanged = new Error('the handler changed its session')

const didNotBegin = 'the transaction did not begin'

/** Time that a statement of the handler may still run when the attempt is over; then it is cancelled. */
const BUSY_MS = 200
/** The limit on idle time when the caller sets none. */
const DEFAULT_IDLE_MS = 60_000

export async function beginTransaction(
  db: Database,
  heartbeats: PinnedLeases,
  { idleMs = DEFAULT_IDLE_MS, leases = [] }: TransactionOptions = {},
): Promise<StoreTransaction<PostgresTx>> {
  const client = await db.transactions.take()
  const turns = turnsOf(client)
  /** Why the transaction is closed; null while it is open. */
  let over: string | null = null
  /** Set before the commit is sent: a later statement of the handler would run outside the transaction. */
  let committing = false
  /** The server has confirmed `begin`. */
  let isBegun = false
  let beginFailure: HookonceError | null = null
  /** The handler has changed the session: nobody else may get the connection. */
  let changed = false
  /** The handler has left READ COMMITTED: the leases are pinned, and lanes are promoted after the commit. */
  let raised = false
  /** The seqs of events that are settled in here and whose lanes are not promoted yet. */
  let settledAlone: number[] = []
  /** Statements wait for this. */
  let gate: Promise<void> | null = null

  function end(how: string, failure: unknown = null, limitMs = db.timeoutMs): void {
    over = how
    if (raised) heartbeats.unpin(leases)
    db.transactions.giveBack(client, failure ?? (changed ? sessionChanged : null), limitMs)
  }

  function raiseLevel(): void {
    raised = true
    const pinned = heartbeats.pin(leases, idleMs + db.timeoutMs).finally(() => {
      if (gate === pinned) gate = null
    })
    gate = pinned
  }

  async function settleHere(settlements: readonly Settlement[]): Promise<boolean[]> {
    const settled = applied(settlements.length, await run(...settling(settlements, 0, !raised)))
    if (raised) settledAlone.push(...settlements.map(({ lease }) => lease.seq))
    return settled
  }

  /** A failure leaves a lane to the next sweep. */
  async function promoteSettled(): Promise<void> {
    const seqs = settledAlone
    settledAlone = []
    if (seqs.length > 0) await promote(db, seqs).catch(() => {})
  }
  function open(): PoolClient {
    if (!over && isOutsideTransaction(client)) {
      // Before `begin` is known to have worked, this can only mean that it did not.
      if (!isBegun) {
        beginFailure ??= new HookonceError('STORE_UNAVAILABLE', { problem: didNotBegin })
        throw beginFailure
      }
      end(
        'a statement of the handler ended it, so its effects may be kept without an outcome',
        sessionChanged,
      )
    }
    if (over) throw new HookonceError('TRANSACTION_CLOSED', { problem: over })
    return client
  }

  function noteChange(words: string): void {
    if (db.sessions.shared)
      throw invalid(
        `The statement ${words}`,
        'is not allowed in a handler behind a connection pooler, because it changes a session that others use; use set local, a lock of the transaction, or a table that is dropped on commit',
      )
    changed = true
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
    const ended = inOwnSession && !changed ? db.transactions.offer(client) : null
    if (ended) onSent?.()
    const [failed, answer] = await answers(settled, committed)
    const isExpired = (failed?.error as { code?: string } | undefined)?.code === LEASE_EXPIRED
    over = failed ? 'its commit failed' : 'it was committed'
    const failure = failed && !isExpired ? failed.error : null
    if (ended) ended(failure, db.timeoutMs)
    else db.transactions.giveBack(client, failure ?? (changed ? sessionChanged : null), db.timeoutMs)
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
    await promoteSettled()
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
  const confirmed = begun.then(() => {
    isBegun = true
  })
  answerOf(confirmed, db.timeoutMs).catch((error: unknown) => {
    if (!isBegun) beginFailure ??= asHookonceError(error)
    if (!over) end(didNotBegin, error) // the next statement then throws TRANSACTION_CLOSED
  })
  process.nextTick(send)

  /** The answers of the handler may be known a moment before that of `begin`. */
  async function knowsBegin(): Promise<void> {
    if (!isBegun && !isBusy(client)) await confirmed.catch(() => {})
  }

  return {
    tx: {
      query: ((...args: Parameters<PoolClient['query']>) => {
        const { boundary, change, raisesLevel } = readSql(args[0])
        if (boundary !== null)
          throw invalid(
            `The statement ${boundary}`,
            'is not allowed in a handler, because hookonce begins and ends the transaction; use a savepoint',
          )
        if (committing && !over)
          throw new HookonceError('TRANSACTION_CLOSED', { problem: 'it is being committed' })
        open()
        if (change !== null) noteChange(change)
        if (raisesLevel && !raised) raiseLevel()
        return gate === null ? turns.query(open, args) : gate.then(() => turns.query(open, args))
      }) as PoolClient['query'],
    },
    get beginFailure() {
      return beginFailure
    },
    async settle(settlements) {
      for (const settlement of settlements) checkSettlement(settlement)
      await knowsBegin()
      return settleHere(settlements)
    },
    async finish(settlements, onSent) {
      for (const settlement of settlements) checkSettlement(settlement)
      committing = true
      if (!isBegun) await knowsBegin()
      const haveSucceeded = settlements.every(({ outcome }) => outcome.kind === 'succeeded')
      if (settlements.length > 0 && haveSucceeded && !raised) {
        if (isPipelined(client)) return finishPipelined(settlements, onSent)
        if (settlements.length === 1) return finishOne(settlements[0]!)
      }
      const settled = await settleHere(settlements)
      if (settled.every(Boolean)) await commit('commit')
      else await rollback()
      return settled.every(Boolean)
    },
    async commit() {
      committing = true
      await knowsBegin()
      await commit('commit')
    },
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
