/**
 * One attempt's hold on its event: the lease, the lazy transaction and the signal. The handler's context is made of it;
 * when the attempt is over, nothing of it works any more.
 */
import { codeOf, type ErrorCode, HookonceError, isHookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import type { ClaimedEvent } from '../model.js'
import type { Store, StoreTransaction } from '../store.js'
import { type Calls, watchCalls } from './floating-promises.js'

export interface Session<Tx> {
  readonly claimed: readonly ClaimedEvent[]
  readonly signal: AbortSignal
  /** Begins at its first use; each method of it waits for that. */
  readonly tx: Tx
  /** The transaction, if it was begun. */
  begun(): Promise<StoreTransaction<Tx>> | null
  begin(): Promise<StoreTransaction<Tx>>
  /** True while the transaction waits for others to end: nothing of it has begun. */
  readonly waiting: boolean
  /** Why the transaction could not begin; the handler is not to blame. */
  readonly unavailable: HookonceError | null
  /** The calls of the handler on its context. */
  readonly calls: Calls
  /** The handler's time is over or its lease is lost: what it still does has no effect through us. */
  abort(reason: Error): void
}

/** Answers of a store that is busy or away. To begin again later is all there is to do. */
const laterCodes: readonly ErrorCode[] = ['POOL_EXHAUSTED', 'STORE_UNAVAILABLE', 'STORE_BUSY']

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
      'a call on ctx that was not awaited failed; await it',
    )
  })
  let transaction: Promise<StoreTransaction<Tx>> | null = null
  let waiting = false
  let unavailable: HookonceError | null = null

  async function begin(): Promise<StoreTransaction<Tx>> {
    insistOnTime()
    transaction ??= beginNow()
    const begun = await transaction
    insistOnTime()
    return begun
  }

  async function beginNow(): Promise<StoreTransaction<Tx>> {
    waiting = true
    try {
      return await store.transaction(timeoutMs === undefined ? {} : { idleMs: timeoutMs })
    } catch (error) {
      if (isHookonceError(error) && laterCodes.includes(error.code)) unavailable = error
      throw error
    } finally {
      waiting = false
    }
  }

  function insistOnTime(): void {
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

/** An object whose every method first waits for the real one. Not a promise itself: `await ctx.tx` must not begin it. */
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
