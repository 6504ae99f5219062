/**
 * A session holds the events, the transaction and the signal of an attempt. It is
 *
 *   open      calls on the context of the handler work, and the first use of `ctx.tx` begins the transaction;
 *   aborted   the handler is out of time, a lease is lost or the process stops. Calls on the context fail;
 *   ended     the attempt is over. Calls on the context fail.
 *
 * The transaction is `none`, `waiting` to begin, `begun`, or rolled back. A store commits it (`settle.ts`).
 */
import { HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Store, StoreTransaction } from '../store.js'
import { Calls } from './floating-promises.js'
import { Stopping } from './result.js'

export class Session<Tx> {
  readonly claimed: readonly ClaimedEvent[]
  reason: Error | null = null
  transaction: Promise<StoreTransaction<Tx>> | null = null
  isWaiting = false
  /** Set also when the session was aborted before, for another reason. */
  isStopping = false
  /** Events whose handler ignores the stop. */
  stillRunning: readonly ClaimedEvent[] = []
  readonly #store: Store<Tx>
  readonly #log: Logger
  readonly #timeoutMs: number | undefined
  readonly #onRollback: (() => Promise<unknown>)[] = []
  #onAbort: (reason: Error) => void = () => {}
  #isAbandoned = false
  #abandon: () => void = () => {}
  #abandoned: Promise<void> | null = null
  #controller: AbortController | null = null
  #ended = false
  #begun: StoreTransaction<Tx> | null = null
  #unavailable: HookonceError | null = null
  #rolledBack: Promise<unknown> | null = null

  constructor(store: Store<Tx>, claimed: readonly ClaimedEvent[], log: Logger, timeoutMs?: number) {
    this.#store = store
    this.claimed = claimed
    this.#log = log
    this.#timeoutMs = timeoutMs
  }

  /** Made when it is first read: most handlers do not use it, and it costs 10 microseconds. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(this.reason ?? overError())
    }
    return this.#controller.signal
  }

  /** Resolves when the session is aborted a second time: nobody waits any longer for a handler that is out of time. */
  get abandoned(): Promise<void> {
    this.#abandoned ??= new Promise((resolve) => {
      this.#abandon = resolve
      if (this.#isAbandoned) resolve()
    })
    return this.#abandoned
  }

  get #isOver(): boolean {
    return this.#ended || this.reason !== null
  }

  /** The transaction could not begin because of this; it is not the fault of the handler. */
  get unavailable(): HookonceError | null {
    return this.#unavailable ?? this.#begun?.beginFailure ?? null
  }

  scope(claimed: readonly ClaimedEvent[]): Scope<Tx> {
    return new Scope(this, new Calls(this.#log, claimed))
  }

  /**
   * Waits for the call of a handler, or rejects when the session is aborted first. Promise.race with a promise of the session
   * would keep something of each call until the session ends.
   */
  untilAborted(call: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      call.then(resolve, reject)
      this.#onAbort = reject
      if (this.reason) reject(this.reason) // by the first statements of the handler
    })
  }

  async begin(): Promise<StoreTransaction<Tx>> {
    this.insistOnOpen()
    this.transaction ??= this.#beginNow()
    const transaction = await this.transaction
    this.insistOnOpen()
    return transaction
  }

  async #beginNow(): Promise<StoreTransaction<Tx>> {
    this.isWaiting = true
    const idleMs = this.#timeoutMs
    const leases = this.claimed.map(({ lease }) => lease)
    try {
      this.#begun = await this.#store.transaction(idleMs === undefined ? { leases } : { idleMs, leases })
      return this.#begun
    } catch (error) {
      // No statement of the handler has run: whatever the reason is, it is not the handler.
      this.#unavailable = isHookonceError(error) ? error : new HookonceError('UNEXPECTED', {}, error)
      throw error
    } finally {
      this.isWaiting = false
    }
  }

  /** A transaction that still waits to begin is not waited for: it is rolled back when it begins. */
  async rollBack(): Promise<void> {
    if (!this.transaction) return
    this.#rolledBack ??= this.transaction
      .then((begun) => begun.rollback())
      .catch(() => {})
      .then(() => Promise.allSettled(this.#onRollback.map((work) => work())))
    if (!this.isWaiting) await this.#rolledBack
  }

  /** Runs `work` when the transaction is rolled back; not when it is committed. */
  afterRollback(work: () => Promise<unknown>): void {
    if (this.#rolledBack) this.#rolledBack = this.#rolledBack.then(work).catch(() => {})
    else this.#onRollback.push(work)
  }

  abort(reason: Error): void {
    if (reason instanceof Stopping) this.isStopping = true
    if (this.reason) {
      this.#isAbandoned = true
      this.#abandon()
    }
    if (this.#isOver) return
    this.reason = reason
    this.#onAbort(reason)
    this.#controller?.abort(reason)
  }

  end(): void {
    if (this.#isOver) return
    this.#ended = true
    this.#controller?.abort(overError())
  }

  insistOnOpen(): void {
    if (this.#isOver) throw new HookonceError('TRANSACTION_CLOSED', { problem: 'the attempt is over' })
  }
}

/** One handler call in a session. The handler cannot use it after it has returned. */
export class Scope<Tx> {
  /** The transaction begins at the first call of a method. */
  readonly tx: Tx
  readonly calls: Calls
  readonly #session: Session<Tx>
  #closed = false

  constructor(session: Session<Tx>, calls: Calls) {
    this.#session = session
    this.calls = calls
    this.tx = lazy<Tx>(() => this.#begin(), calls)
  }

  insistOnOpen(): void {
    this.#session.insistOnOpen()
    if (this.#closed) throw new HookonceError('TRANSACTION_CLOSED', { problem: 'the handler has returned' })
  }

  close(): void {
    this.#closed = true
    this.calls.close()
  }

  async #begin(): Promise<Tx> {
    this.insistOnOpen()
    const { tx } = await this.#session.begin()
    this.insistOnOpen()
    return tx
  }
}

function overError(): Error {
  return new Error('the attempt is over')
}

/** An object whose methods wait for the real one. It has no `then`, so that `await ctx.tx` does not begin it. */
function lazy<T>(real: () => Promise<T>, calls: Calls): T {
  return new Proxy(Object.create(null) as object, {
    get(_target, name) {
      if (name === 'then' || typeof name === 'symbol') return undefined
      const call = async (...args: unknown[]) => {
        const target = (await real()) as Record<string, (...args: unknown[]) => unknown>
        return target[name]!(...args)
      }
      return (...args: unknown[]) => calls.watch(call(...args))
    },
  }) as T
}
