/**
 * The connections of handlers' transactions. A connection whose commit is under way is offered to the next transaction, whose
 * first commands then go into the same packet; the server runs them after the commit. A packet is the largest cost of a short
 * transaction (docs/decisions/0007-time-of-a-delivery.md).
 */
import type { Pool, PoolClient } from 'pg'
import { timeLimits } from '../../clock.js'
import { HookonceError } from '../../errors.js'
import { acquireMs, breakOff, giveBack, isFull, take } from './connection.js'
import { asHookonceError, isConnectionFailure, isPoolExhausted, isTimedOut } from './failure.js'

export interface TransactionPool {
  /** Takes a connection. Throws POOL_EXHAUSTED when none became free in time. */
  take(): Promise<PoolClient>
  /**
   * The commit of this connection was sent: the next transaction may begin on it. Call the returned function when the commit
   * has ended, with the error if it failed. The caller must not use the connection any more.
   */
  offer(client: PoolClient): (failure: unknown, limitMs: number) => void
  /** Returns a connection; after a failure it is destroyed. */
  giveBack(client: PoolClient, failure?: unknown, limitMs?: number): void
  /** Takes connections away from transactions that nobody ends. */
  breakAll(): void
  /** Nobody gets a connection any more. */
  close(): void
}

interface Offer {
  readonly client: PoolClient
  readonly sentAt: number
  isTaken: boolean
}

interface Waiter {
  readonly resolve: (client: PoolClient | Promise<PoolClient>) => void
  readonly reject: (error: Error) => void
}

/** A commit that takes longer may never end: a transaction behind it would have to wait for its time limit. */
const FRESH_MS = 250

/** `isOwn`: nobody else uses the pool. Connections of the application's pool go back to it after each transaction. */
export function transactionPool(pool: Pool, isOwn: boolean): TransactionPool {
  const waitMs = acquireMs(pool)
  const inUse = new Set<PoolClient>()
  const offers: Offer[] = []
  const waiters = new Set<Waiter>()
  const inTime = timeLimits<Waiter>(waitMs, (waiter) => {
    waiters.delete(waiter)
    waiter.reject(exhausted())
  })
  /** Connections that the pool was asked for and has not given yet. */
  let asked = 0
  let closed = false

  const exhausted = () => new HookonceError('POOL_EXHAUSTED', { waitedMs: waitMs })

  async function fromPool(): Promise<PoolClient> {
    asked++
    try {
      const client = await take(pool, waitMs)
      inUse.add(client)
      return client
    } catch (error) {
      const isExhausted = isPoolExhausted(error) || (isTimedOut(error) && isFull(pool))
      throw isExhausted ? exhausted() : asHookonceError(error)
    } finally {
      asked--
    }
  }

  /** A waiter that gets no connection leaves its turn to the next one. */
  async function fromPoolInTurn(): Promise<PoolClient> {
    try {
      return await fromPool()
    } catch (error) {
      nextWaiter()?.resolve(fromPoolInTurn())
      throw error
    }
  }

  function freshOffer(): PoolClient | null {
    const offer = offers.at(-1)
    if (!offer || performance.now() - offer.sentAt > FRESH_MS) return null
    offers.pop()
    offer.isTaken = true
    return offer.client
  }

  function nextWaiter(): Waiter | undefined {
    const [first] = waiters
    if (first) {
      waiters.delete(first)
      inTime.clear(first)
    }
    return first
  }

  function back(client: PoolClient, failure: unknown = null, limitMs = 0): void {
    if (!inUse.has(client)) return
    if (failure === null && !closed) {
      const waiter = nextWaiter()
      if (waiter) {
        waiter.resolve(client)
        return
      }
    }
    inUse.delete(client)
    giveBack(pool, client, failure, limitMs)
    if (failure !== null && !closed) nextWaiter()?.resolve(fromPoolInTurn())
  }

  return {
    async take() {
      if (closed) throw new HookonceError('STORE_CLOSED')
      if (!isOwn) return fromPool()
      const client = freshOffer()
      if (client) return client
      if (inUse.size + asked < pool.options.max) return fromPoolInTurn()
      return new Promise((resolve, reject) => {
        const waiter = { resolve, reject }
        waiters.add(waiter)
        inTime.set(waiter)
      })
    },
    offer(client) {
      const offer: Offer = { client, sentAt: performance.now(), isTaken: false }
      const waiter = nextWaiter()
      if (waiter) {
        offer.isTaken = true
        waiter.resolve(client)
      } else offers.push(offer)
      return (failure, limitMs) => {
        if (offer.isTaken) {
          // The transaction that has it now fails, and returns it. Any other failure concerned the commit alone.
          if (failure !== null && isConnectionFailure(failure)) breakOff(pool, client, failure, limitMs)
          return
        }
        offers.splice(offers.indexOf(offer), 1)
        back(client, failure, limitMs)
      }
    },
    giveBack: back,
    breakAll() {
      for (const client of [...inUse]) back(client, new HookonceError('STORE_CLOSED'))
    },
    close() {
      closed = true
      for (let waiter = nextWaiter(); waiter; waiter = nextWaiter())
        waiter.reject(new HookonceError('STORE_CLOSED'))
    },
  }
}
