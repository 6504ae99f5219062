/**
 * The session of one attempt: its events, its transaction and its signal. The context of each handler call is made from a
 * scope of the session. After the call the scope is closed; after the attempt the transaction is closed.
 */
import { codeOf, HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Store, StoreTransaction } from '../store.js'
import { type Calls, watchCalls } from './floating-promises.js'

export interface Session<Tx> {
  readonly claimed: readonly ClaimedEvent[]
  /** For handlers. It is made when it is first read: most handlers do not use it, and it costs 10 microseconds. */
  readonly signal: AbortSignal
  /** Why the session was aborted; null while it is open, and after `end`. */
  readonly reason: Error | null
  /** Rejects with the reason when the session is aborted. */
  readonly aborted: Promise<never>
  /** Opens the scope of a handler call with these events. */
  scope(claimed: readonly ClaimedEvent[]): Scope<Tx>
  /** The transaction, if it has begun or waits to begin. */
  begun(): Promise<StoreTransaction<Tx>> | null
  begin(): Promise<StoreTransaction<Tx>>
  /** Rolls the transaction back. One that still waits to begin is not waited for: it is rolled back when it begins. */
  rollBack(): Promise<void>
  /** Runs `work` when the transaction is rolled back; not when it is committed. */
  afterRollback(work: () => Promise<unknown>): void
  /** True while the transaction waits to begin. */
  readonly waiting: boolean
  /** The error with which the transaction could not begin, if that was not the fault of the handler. */
  readonly unavailable: HookonceError | null
  /**
   * Aborts the session: the handler is out of time, its lease is lost or the process stops. Later calls on its context fail.
   * A second call ends the wait for a handler that is out of time.
   */
  abort(reason: Error): void
  /** Resolves when the session is aborted a second time. */
  readonly abandoned: Promise<void>
  /** The attempt is over. Later calls on its context fail. */
  end(): void
}

/** The part of a session that one handler call sees. Handlers that share a session cannot use it after they returned. */
export interface Scope<Tx> {
  /** The transaction as the handler sees it. It begins at the first call of a method. */
  readonly tx: Tx
  /** The calls of the handler on its context. */
  readonly calls: Calls
  /** Throws when the handler call is over. */
  insistOnOpen(): void
  close(): void
}

export function openSession<Tx>(
  store: Store<Tx>,
  claimed: readonly ClaimedEvent[],
  log: Logger,
  timeoutMs?: number,
): Session<Tx> {
  let controller: AbortController | null = null
  let reason: Error | null = null
  let ended = false
  let rejectAborted: (reason: Error) => void
  const aborted = new Promise<never>((_, reject) => {
    rejectAborted = reject
  })
  aborted.catch(() => {}) // the handlers race against it; after them nobody waits for it
  let abandon = () => {}
  const abandoned = new Promise<void>((resolve) => {
    abandon = resolve
  })
  let transaction: Promise<StoreTransaction<Tx>> | null = null
  let rolledBack: Promise<unknown> | null = null
  const onRollback: (() => Promise<unknown>)[] = []
  let waiting = false
  let begun: StoreTransaction<Tx> | null = null
  let unavailable: HookonceError | null = null

  async function begin(): Promise<StoreTransaction<Tx>> {
    insistOnOpen()
    transaction ??= beginNow()
    const opened = await transaction
    insistOnOpen()
    return opened
  }

  async function beginNow(): Promise<StoreTransaction<Tx>> {
    waiting = true
    try {
      const leases = claimed.map(({ lease }) => lease)
      begun = await store.transaction(timeoutMs === undefined ? { leases } : { idleMs: timeoutMs, leases })
      return begun
    } catch (error) {
      // No statement of the handler has run: whatever the reason is, it is not the handler.
      unavailable = isHookonceError(error) ? error : new HookonceError('UNEXPECTED', {}, error)
      throw error
    } finally {
      waiting = false
    }
  }

  async function rollBack(): Promise<void> {
    if (!transaction) return
    rolledBack ??= transaction
      .then((begun) => begun.rollback())
      .catch(() => {})
      .then(() => Promise.allSettled(onRollback.map((work) => work())))
    if (!waiting) await rolledBack
  }

  function afterRollback(work: () => Promise<unknown>): void {
    if (rolledBack) rolledBack = rolledBack.then(work).catch(() => {})
    else onRollback.push(work)
  }

  function insistOnOpen(): void {
    if (ended || reason) throw new HookonceError('TRANSACTION_CLOSED', { problem: 'the attempt is over' })
  }

  function scope(events: readonly ClaimedEvent[]): Scope<Tx> {
    const calls = watchCalls((error) => reportUnawaited(log, events, error))
    let closed = false
    function insistOnOpenScope(): void {
      insistOnOpen()
      if (closed) throw new HookonceError('TRANSACTION_CLOSED', { problem: 'the handler has returned' })
    }
    async function transactionOfCall(): Promise<Tx> {
      insistOnOpenScope()
      const { tx } = await begin()
      insistOnOpenScope()
      return tx
    }
    return {
      tx: lazy<Tx>(transactionOfCall, calls),
      calls,
      insistOnOpen: insistOnOpenScope,
      close() {
        closed = true
        calls.close()
      },
    }
  }

  function signal(): AbortSignal {
    if (controller === null) {
      controller = new AbortController()
      if (ended || reason) controller.abort(reason ?? overError())
    }
    return controller.signal
  }

  return {
    claimed,
    get signal() {
      return signal()
    },
    get reason() {
      return reason
    },
    aborted,
    abandoned,
    scope,
    begun: () => transaction,
    begin,
    rollBack,
    afterRollback,
    get waiting() {
      return waiting
    },
    get unavailable() {
      return unavailable ?? begun?.beginFailure ?? null
    },
    abort(why) {
      if (reason) abandon()
      if (ended || reason) return
      reason = why
      rejectAborted(why)
      controller?.abort(why)
    },
    end() {
      if (ended || reason) return
      ended = true
      controller?.abort(overError())
    },
  }
}

function overError(): Error {
  return new Error('the attempt is over')
}

function reportUnawaited(log: Logger, events: readonly ClaimedEvent[], error: unknown): void {
  const { source, eventId } = events[0]!
  log.error(
    {
      source,
      eventId,
      ...(events.length > 1 && { events: events.length }),
      code: codeOf(error),
      step: 'handle',
    },
    'a call on ctx that was not awaited has failed; await it in the handler',
  )
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
