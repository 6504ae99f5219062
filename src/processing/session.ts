/**
 * The session of one attempt: its events, its transaction and its signal. The context of the handler is made from it; after
 * the attempt its transaction is closed.
 */
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Store, StoreTransaction } from '../store.js'
import { type Calls, watchCalls } from './floating-promises.js'

export interface Session<Tx> {
  readonly claimed: readonly ClaimedEvent[]
  readonly signal: AbortSignal
  /** The transaction as the handler sees it. It begins at the first call of a method. */
  readonly tx: Tx
  /** The transaction, if it has begun or waits to begin. */
  begun(): Promise<StoreTransaction<Tx>> | null
  begin(): Promise<StoreTransaction<Tx>>
  /** True while the transaction waits to begin. */
  readonly waiting: boolean
  /** The error with which the transaction could not begin, if that was not the fault of the handler. */
  readonly unavailable: HookonceError | null
  /** The calls of the handler on its context. */
  readonly calls: Calls
  /** Ends the session: the handler is out of time or its lease is lost. Later calls on its context fail. */
  abort(reason: Error): void
}

/** Errors of a store that is busy or unavailable: the attempt is made again later. */
const unavailableCodes: readonly ErrorCode[] = ['POOL_EXHAUSTED', 'STORE_UNAVAILABLE', 'STORE_BUSY']

export function openSession<Tx>(
  store: Store<Tx>,
  claimed: readonly ClaimedEvent[],
  log: Logger,
  timeoutMs?: number,
): Session<Tx> {
  const controller = new AbortController()
  const calls = watchCalls((error) => {
    const { source, eventId } = claimed[0]!
    const code = codeOf(error)
    log.error(
      { source, eventId, ...(claimed.length > 1 && { events: claimed.length }), code, step: 'handle' },
      'a call on ctx that was not awaited has failed; await it in the handler',
    )
  })
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
    if (controller.signal.aborted)
      throw new HookonceError('TRANSACTION_CLOSED', { problem: 'the attempt is over' })
  }

  return {
    claimed,
    signal: controller.signal,
    tx: lazy<Tx>(async () => (await begin()).tx, calls),
    calls,
    begun: () => transaction,
    begin,
    get waiting() {
      return waiting
    },
    get unavailable() {
      return unavailable
    },
    abort(reason) {
      controller.abort(reason)
      calls.close()
    },
  }
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
