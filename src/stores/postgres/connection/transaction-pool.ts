/**
 * While the connection of a handler’s transaction commits, it is offered to the next transaction, whose first commands go
 * into the same packet. The server runs them after the commit. A packet is the largest cost of a short transaction
 * (docs/decisions/0007-time-of-a-delivery.md).
 */
import type { PoolClient } from 'pg'
import { HookonceError } from '../../../errors.js'
import { answerOf } from './client.js'
import { asHookonceError, isConnectionFailure } from './failure.js'
import type { ServerPool } from './server-pool.js'

interface Offer {
  readonly client: PoolClient
  readonly sentAt: number
  isTaken: boolean
}

interface Waiter {
  readonly resolve: (client: PoolClient | Promise<PoolClient>) => void
  readonly reject: (error: Error) => void
}

/** A commit that takes longer may never end, and the transaction behind it would wait for its time limit. */
const FRESH_MS = 250

export class TransactionPool {
  readonly #server: ServerPool
  readonly #offers: Offer[] = []
  readonly #waiters = new Set<Waiter>()
  #closed = false

  constructor(server: ServerPool) {
    this.#server = server
  }

  /** Connections of the application’s pool go back to it after each transaction. */
  get isOwn(): boolean {
    return this.#server.isOwn
  }

  get max(): number {
    return this.#server.max
  }

  async take(): Promise<PoolClient> {
    if (this.#closed) throw new HookonceError('STORE_CLOSED')
    const client = this.#freshOffer()
    if (client) return client
    if (!this.isOwn || this.#server.count < this.#server.max) return this.#fromServer()
    return this.#fromOthers()
  }

  /**
   * The commit was sent, and the caller is done with the connection. When the commit has ended, call the returned
   * function, with the error if it failed.
   */
  offer(client: PoolClient): (failure: unknown, limitMs: number) => void {
    const offer: Offer = { client, sentAt: performance.now(), isTaken: false }
    const waiter = this.#nextWaiter()
    if (waiter) {
      offer.isTaken = true
      waiter.resolve(client)
    } else this.#offers.push(offer)
    return (failure, limitMs) => {
      if (offer.isTaken) {
        // The transaction that has it now fails, and returns it. Any other failure concerned the commit alone.
        if (failure !== null && isConnectionFailure(failure)) this.#server.breakOff(client, failure, limitMs)
        return
      }
      this.#offers.splice(this.#offers.indexOf(offer), 1)
      this.giveBack(client, failure, limitMs)
    }
  }

  giveBack(client: PoolClient, failure: unknown = null, limitMs = 0): void {
    if (!this.#server.has(client)) return
    const waiter = this.#closed ? undefined : this.#nextWaiter()
    if (waiter && failure === null) {
      waiter.resolve(client)
      return
    }
    this.#server.giveBack(client, failure, limitMs)
    waiter?.resolve(this.#fromServer())
  }

  async close(): Promise<void> {
    this.#closed = true
    for (let waiter = this.#nextWaiter(); waiter; waiter = this.#nextWaiter())
      waiter.reject(new HookonceError('STORE_CLOSED'))
    await this.#server.close((client) => this.giveBack(client, new HookonceError('STORE_CLOSED')))
  }

  async #fromServer(): Promise<PoolClient> {
    try {
      return await this.#server.take()
    } catch (error) {
      this.#nextWaiter()?.resolve(this.#fromServer())
      throw asHookonceError(error)
    }
  }

  async #fromOthers(): Promise<PoolClient> {
    let waiter!: Waiter
    const given = new Promise<PoolClient>((resolve, reject) => {
      waiter = { resolve, reject }
      this.#waiters.add(waiter)
    })
    try {
      return await answerOf(given, this.#server.waitMs)
    } catch {
      if (this.#waiters.delete(waiter)) throw poolExhausted(this.#server.waitMs)
      return given // it has failed, or came in the last moment
    }
  }

  #freshOffer(): PoolClient | null {
    const offer = this.#offers.at(-1)
    if (!offer || performance.now() - offer.sentAt > FRESH_MS) return null
    this.#offers.pop()
    offer.isTaken = true
    return offer.client
  }

  #nextWaiter(): Waiter | undefined {
    const [first] = this.#waiters
    if (first) this.#waiters.delete(first)
    return first
  }
}

export function poolExhausted(waitedMs: number): HookonceError {
  return new HookonceError('POOL_EXHAUSTED', { waitedMs })
}
