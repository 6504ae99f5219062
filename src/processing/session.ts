/**
 * The session of one attempt: its events, its transaction and its signal. The context of each handler call is made from a
 * scope of the session. After the call the scope is closed; after the attempt the transaction is closed.
 */
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
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
  /** True while the transaction waits to begin. */
  readonly waiting: boolean
  /** The error with which the transaction could not begin, if that was not the fault of the handler. */
  readonly unavailable: HookonceError | null
  /** Aborts the session: the handler is out of time or its lease is lost. Later calls on its context fail. */
  abort(reason: Error): void
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

/** Errors of a store that is busy or unavailable: the attempt is made again later. */
const unavailableCodes: readonly ErrorCode[] = ['POOL_EXHAUSTED', 'STORE_UNAVAILABLE', 'STORE_BUSY']

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
  let transaction: Promise<StoreTransaction<Tx>> | null = null
  let waiting = false
  let unavailable: HookonceError | null = null

  async function begin(): Promise<StoreTransaction<Tx>> {
    insistOnOpen()
    transaction ??= beginNow()
    const begun = await transaction
    insistOnOpen()
    return begun
  }

  async function beginNow(): Promise<StoreTransaction<Tx>> {
    waiting = true
    try {
      return await store.transaction(timeoutMs === undefined ? {} : { idleMs: timeoutMs })
    } catch (error) {
      if (isHookonceError(error) && unavailableCodes.includes(error.code)) unavailable = error
      throw error
    } finally {
      waiting = false
    }
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
    scope,
    begun: () => transaction,
    begin,
    get waiting() {
      return waiting
    },
    get unavailable() {
      return unavailable
    },
    abort(why) {
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
