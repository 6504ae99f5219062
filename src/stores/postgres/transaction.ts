/**
 * A handler's transaction: its writes and its outcome commit together.
 *
 *   beginning   `begin` was sent, often in one packet with the first statement of the handler
 *   open        the server has confirmed `begin`
 *   committing  no statement of the handler is sent any more: it would run outside the transaction
 *   over        committed, rolled back or lost, and the connection was given back
 */
import type { PoolClient, QueryResultRow } from 'pg'
import { HookonceError, invalid } from '../../errors.js'
import type { Lease, Settlement } from '../../model.js'
import type {
  StoreTransaction,
  TransactionKeys,
  TransactionOptions,
  TransactionReplies,
} from '../../store.js'
import { answerOf, corked, isBusy, isOutsideTransaction, isPipelined } from './connection/client.js'
import type { Database } from './connection/database.js'
import {
  asHookonceError,
  describe,
  isConnectionFailure,
  isStatementLost,
  isTimedOut,
} from './connection/failure.js'
import { readSql } from './connection/handler-sql.js'
import { beginInOwnSession, beginSql } from './connection/settings.js'
import type { Statement } from './connection/statement.js'
import { Turns } from './connection/turns.js'
import { advanceWatermark, effect } from './keys.js'
import { applied, type Heartbeats } from './leases.js'
import { putReply } from './replies.js'
import {
  groupValues,
  LEASE_EXPIRED,
  promote,
  settleGroup,
  settleSucceeded,
  settleSucceededSql,
  settling,
  succeededValues,
} from './settle.js'

export type PostgresTx = Pick<PoolClient, 'query'>

type CommandAnswer = { command: string } | readonly { command: string }[]

/** Given back with this, a connection is replaced by a new one. */
const sessionChanged = new Error('the handler changed its session')

const didNotBegin = 'the transaction did not begin'
const isBeingCommitted = 'it is being committed'

/** A statement of the handler may run this much longer than its attempt. */
const BUSY_MS = 200
const DEFAULT_IDLE_MS = 60_000

export async function beginTransaction(
  db: Database,
  heartbeats: Heartbeats,
  options: TransactionOptions = {},
): Promise<HandlerTransaction> {
  return new HandlerTransaction(db, await db.transactions.take(), heartbeats, options)
}

class HandlerTransaction implements StoreTransaction<PostgresTx> {
  readonly tx: PostgresTx = { query: ((...args: unknown[]) => this.#query(args)) as PoolClient['query'] }
  beginFailure: HookonceError | null = null
  readonly #db: Database
  readonly #client: PoolClient
  readonly #turns: Turns
  readonly #heartbeats: Heartbeats
  readonly #leases: readonly Lease[]
  readonly #idleMs: number
  /** The next transaction may use the connection while this one commits. */
  readonly #inOwnSession: boolean
  readonly #begun: Promise<void>
  #isBegun = false
  #isCommitting = false
  #over: string | null = null
  /** Nobody else may get the connection. */
  #changed = false
  /** The handler has left READ COMMITTED: the leases are pinned, and lanes are promoted after the commit. */
  #raised = false
  readonly #settledAlone: number[] = []
  #gate: Promise<void> | null = null

  /** Does not wait for `begin`: a pipelined connection sends it together with the handler’s first statement. */
  constructor(
    db: Database,
    client: PoolClient,
    heartbeats: Heartbeats,
    { idleMs = DEFAULT_IDLE_MS, leases = [] }: TransactionOptions,
  ) {
    this.#db = db
    this.#client = client
    this.#turns = new Turns(client)
    this.#heartbeats = heartbeats
    this.#leases = leases
    this.#idleMs = idleMs
    this.#inOwnSession = isPipelined(client) && db.transactions.isOwn && db.sessions.own
    process.nextTick(corked(client))
    const begun = this.#turns.take<unknown>(() =>
      this.#inOwnSession ? beginInOwnSession(client, idleMs) : client.query(beginSql(idleMs)),
    )
    this.#begun = begun.then(() => {
      this.#isBegun = true
    })
    answerOf(this.#begun, db.timeoutMs).catch((error: unknown) => {
      if (!this.#isBegun) this.beginFailure ??= asHookonceError(error)
      if (!this.#over) this.#end(didNotBegin, error) // the next statement then throws TRANSACTION_CLOSED
    })
  }

  get keys(): TransactionKeys {
    return {
      advance: async ({ source, key, value }) =>
        (await this.#run(advanceWatermark, [source, key, value])).length === 1,
      effect: (step) => effect((statement, values) => this.#run(statement, values), step),
    }
  }

  get replies(): TransactionReplies {
    return {
      put: ({ lease }, reply) =>
        putReply((statement, values) => this.#run(statement, values), lease.seq, reply),
    }
  }

  async settle(settlements: readonly Settlement[]): Promise<boolean[]> {
    await this.#knowsBegin()
    return this.#settle(settlements)
  }

  async finish(settlements: readonly Settlement[], onSent?: () => void): Promise<boolean> {
    this.#isCommitting = true
    if (!this.#isBegun) await this.#knowsBegin()
    const arePlain = settlements.every(
      ({ outcome, references }) => outcome.kind === 'succeeded' && references === undefined,
    )
    if (settlements.length > 0 && arePlain && !this.#raised) {
      if (isPipelined(this.#client)) return this.#finishPipelined(settlements, onSent)
      // One text: the connection takes one statement at a time.
      if (settlements.length === 1)
        return this.#commit(this.#db.inSchema(`${settleSucceededSql(settlements[0]!)}; commit`))
    }
    const settled = await this.#settle(settlements)
    if (settled.every(Boolean)) await this.#commit('commit')
    else await this.rollback()
    return settled.every(Boolean)
  }

  async commit(): Promise<void> {
    this.#isCommitting = true
    await this.#knowsBegin()
    await this.#commit('commit')
  }

  /** Takes a limited time, even while a statement of the handler runs; then the connection is destroyed. */
  async rollback(): Promise<void> {
    if (this.#over) return
    const limitMs = isBusy(this.#client) ? BUSY_MS : this.#db.timeoutMs
    this.#over = 'it was rolled back'
    // Statements of the handler that were not sent yet find the transaction closed at their turn.
    const rolledBack = this.#turns.take(() => this.#client.query('rollback'))
    const failure = await answerOf(rolledBack, limitMs).then(
      () => null,
      (error: unknown) => error,
    )
    this.#end(this.#over, failure, limitMs)
  }

  #query(args: readonly unknown[]): unknown {
    const { boundary, change, raisesLevel } = readSql(args[0])
    if (boundary !== null)
      throw invalid(
        `The statement ${boundary}`,
        'is not allowed in a handler, because hookonce begins and ends the transaction; use a savepoint',
      )
    if (this.#isCommitting && !this.#over)
      throw new HookonceError('TRANSACTION_CLOSED', { problem: isBeingCommitted })
    this.#usable()
    if (change !== null) this.#noteChange(change)
    if (raisesLevel && !this.#raised) this.#raiseLevel()
    const send = () => this.#turns.query(() => this.#usable(), args)
    return this.#gate === null ? send() : this.#gate.then(send)
  }

  #usable(): PoolClient {
    if (!this.#over && isOutsideTransaction(this.#client)) {
      // This can only mean that `begin` did not work.
      if (!this.#isBegun) {
        this.beginFailure ??= new HookonceError('STORE_UNAVAILABLE', { problem: didNotBegin })
        throw this.beginFailure
      }
      this.#end(
        'a statement of the handler ended it, so its effects may be kept without an outcome',
        sessionChanged,
      )
    }
    if (this.#over) throw new HookonceError('TRANSACTION_CLOSED', { problem: this.#over })
    return this.#client
  }

  #end(how: string, failure: unknown = null, limitMs = this.#db.timeoutMs): void {
    this.#over = how
    if (this.#raised) this.#heartbeats.unpin(this.#leases)
    this.#giveBack(failure, limitMs)
  }

  #giveBack(failure: unknown, limitMs: number): void {
    this.#db.transactions.giveBack(this.#client, failure ?? (this.#changed ? sessionChanged : null), limitMs)
  }

  #noteChange(words: string): void {
    if (this.#db.sessions.shared)
      throw invalid(
        `The statement ${words}`,
        'is not allowed in a handler behind a connection pooler, because it changes a session that others use; use set local, a lock of the transaction, or a table that is dropped on commit',
      )
    this.#changed = true
  }

  #raiseLevel(): void {
    this.#raised = true
    const pinned = this.#heartbeats.pin(this.#leases, this.#idleMs + this.#db.timeoutMs).finally(() => {
      if (this.#gate === pinned) this.#gate = null
    })
    this.#gate = pinned
  }

  /** The answers of the handler may be known a moment before that of `begin`. */
  async #knowsBegin(): Promise<void> {
    if (!this.#isBegun && !isBusy(this.#client)) await this.#begun.catch(() => {})
  }

  async #run<Row extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    try {
      const sent = this.#turns.take(async () =>
        this.#usable().query<Row>(this.#db.prepared(statement, values)),
      )
      return (await answerOf(sent, this.#db.timeoutMs)).rows
    } catch (error) {
      if (isStatementLost(error)) this.#db.sessions.statementLost()
      if (isTimedOut(error) && !this.#over) this.#end('its connection stopped answering', error)
      throw asHookonceError(error)
    }
  }

  async #settle(settlements: readonly Settlement[]): Promise<boolean[]> {
    const settled = applied(
      settlements.length,
      await this.#run(...settling(settlements, { promotes: !this.#raised, isHandlers: true })),
    )
    if (this.#raised) this.#settledAlone.push(...settlements.map(({ lease }) => lease.seq))
    return settled
  }

  /**
   * An error of the settlement makes the commit behind it a rollback. The connection is offered to the next transaction
   * at once, so nothing may be sent for this one any more.
   */
  async #finishPipelined(settlements: readonly Settlement[], onSent?: () => void): Promise<boolean> {
    const client = this.#usable()
    const { transactions, prepared, timeoutMs } = this.#db
    process.nextTick(corked(client))
    const settled = client.query(
      settlements.length === 1
        ? prepared(settleSucceeded, succeededValues(settlements[0]!))
        : prepared(settleGroup, groupValues(settlements)),
    )
    const committed = client.query('commit')
    this.#over = isBeingCommitted
    const ended = this.#inOwnSession && !this.#changed ? transactions.offer(client) : null
    if (ended) onSent?.()
    const [failed, answer] = await answersOf(settled, committed, timeoutMs)
    const isExpired = (failed?.error as { code?: string } | undefined)?.code === LEASE_EXPIRED
    this.#over = failed ? 'its commit failed' : 'it was committed'
    const failure = failed && !isExpired ? failed.error : null
    if (ended) ended(failure, timeoutMs)
    else this.#giveBack(failure, timeoutMs)
    if (isExpired) return false
    if (failed) throw this.#commitFailure(failed.error)
    insistOnCommit(answer)
    return true
  }

  /** Returns false, and rolls back, when a settlement in the text finds its lease expired. */
  async #commit(sql: string): Promise<boolean> {
    let answer: CommandAnswer
    try {
      const sent = this.#turns.take(async () => this.#usable().query(sql))
      answer = await answerOf(sent, this.#db.timeoutMs)
    } catch (error) {
      if (this.#over) throw error
      if ((error as { code?: string }).code === LEASE_EXPIRED) {
        await this.rollback()
        return false
      }
      this.#end('its commit failed', error)
      throw this.#commitFailure(error)
    }
    this.#end('it was committed')
    insistOnCommit(answer)
    const seqs = this.#settledAlone
    // The next sweep promotes a lane that fails here.
    if (seqs.length > 0) await promote(this.#db.query, seqs).catch(() => {})
    return true
  }

  #commitFailure(error: unknown): HookonceError {
    if (isStatementLost(error)) this.#db.sessions.statementLost()
    return isConnectionFailure(error)
      ? new HookonceError('COMMIT_UNKNOWN', { problem: describe(error) })
      : asHookonceError(error)
  }
}

/** The first failure, and the answer to the commit. Both statements have then ended. */
async function answersOf(
  settled: Promise<unknown>,
  committed: Promise<CommandAnswer>,
  limitMs: number,
): Promise<readonly [{ readonly error: unknown } | null, CommandAnswer | null]> {
  settled.catch(() => {})
  try {
    const answer = await answerOf(committed, limitMs)
    // Answers arrive in order: this one is known by now.
    const failed = await settled.then(
      () => null,
      (error: unknown) => ({ error }),
    )
    return [failed, answer]
  } catch (error) {
    return [{ error }, null]
  }
}

/** PostgreSQL reports COMMIT of an aborted transaction as a success, with the command tag ROLLBACK. */
function insistOnCommit(answer: CommandAnswer | null): void {
  if ([answer].flat().at(-1)?.command === 'ROLLBACK') throw new HookonceError('TRANSACTION_ABORTED')
}
