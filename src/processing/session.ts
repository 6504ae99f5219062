/**
 * One attempt's hold on its event: the lease, the lazy transaction and the signal. The handler's context is made of it;
 * when the attempt is over, nothing of it works any more.
 */
import { HookonceError } from '../errors.js'
import type { ClaimedEvent } from '../model.js'
import type { Store, StoreTransaction } from '../store.js'

export interface Session<Tx> {
  readonly claimed: readonly ClaimedEvent[]
  readonly signal: AbortSignal
  /** Begins at its first use; each method of it waits for that. */
  readonly tx: Tx
  /** The transaction, if it was begun. */
  begun(): Promise<StoreTransaction<Tx>> | null
  begin(): Promise<StoreTransaction<Tx>>
  /** The handler's time is over or its lease is lost: what it still does has no effect through us. */
  abort(reason: Error): void
  /** Set by `ctx.ignore`. */
  ignored: string | null
}

export function openSession<Tx>(store: Store<Tx>, claimed: readonly ClaimedEvent[]): Session<Tx> {
  const controller = new AbortController()
  let transaction: Promise<StoreTransaction<Tx>> | null = null

  function begin(): Promise<StoreTransaction<Tx>> {
    if (controller.signal.aborted) {
      return Promise.reject(new HookonceError('TRANSACTION_CLOSED', { problem: 'the attempt is over' }))
    }
    transaction ??= store.transaction()
    return transaction
  }

  return {
    claimed,
    signal: controller.signal,
    tx: lazy<Tx>(async () => (await begin()).tx),
    begun: () => transaction,
    begin,
    abort: (reason) => controller.abort(reason),
    ignored: null,
  }
}

/** An object whose every method first waits for the real one. Not a promise itself: `await ctx.tx` must not begin it. */
function lazy<T>(real: () => Promise<T>): T {
  return new Proxy(Object.create(null) as object, {
    get(_target, name) {
      if (name === 'then' || typeof name === 'symbol') return undefined
      return async (...args: unknown[]) => {
        const target = (await real()) as Record<string, (...args: unknown[]) => unknown>
        return target[name]!(...args)
      }
    },
  }) as T
}
