/** A pool of node-postgres that limits every wait. A connection whose state is unknown is destroyed. */
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { HookonceError } from '../../../errors.js'
import { answerOf, cancelStatement, destroy, survive } from './client.js'
import {
  isConnectionFailure,
  isPoolExhausted,
  isReadOnlyFailure,
  isStatementLost,
  isTimedOut,
} from './failure.js'

/** The application’s pool may have no limit. */
const ACQUIRE_MS = 5_000
const CLOSE_MS = 3_000

export interface ServerPoolOptions {
  readonly isOwn?: boolean
  /** All connections stayed in use. Default: the error of the driver. */
  exhausted?(pool: Pool, waitedMs: number): HookonceError
}

export class ServerPool {
  readonly max: number
  readonly isOwn: boolean
  readonly #pool: Pool
  readonly #exhausted: ServerPoolOptions['exhausted']
  readonly waitMs: number
  #asked = 0
  readonly #inUse = new Set<PoolClient>()
  readonly #heardAt = new WeakMap<PoolClient, number>()
  /** Connections last known to work before this time may be broken like the one that timed out. */
  #suspectBefore = 0
  #closed = false
  #whenIdle: (() => void) | undefined

  constructor(pool: Pool, { isOwn = true, exhausted }: ServerPoolOptions = {}) {
    this.#pool = pool
    this.isOwn = isOwn
    this.#exhausted = exhausted
    this.max = pool.options.max
    const ownMs = (pool.options as PoolConfig).connectionTimeoutMillis
    // The error of the pool comes first.
    this.waitMs = ownMs ? ownMs + 500 : ACQUIRE_MS
    // Not later: the server can end a connection in the packet in which it accepts it.
    pool.on('connect', survive)
    // The pool replaces an idle connection that breaks. Without a listener the error would end the process.
    if (isOwn) pool.on('error', () => {})
  }

  get count(): number {
    return this.#inUse.size + this.#asked
  }

  has(client: PoolClient): boolean {
    return this.#inUse.has(client)
  }

  /** Trying connections that may have broken with one that timed out would take a time limit each: they are destroyed. */
  async take(): Promise<PoolClient> {
    if (this.#closed) throw new HookonceError('STORE_CLOSED')
    this.#asked++
    try {
      for (;;) {
        const client = await this.#connect()
        if ((this.#heardAt.get(client) ?? Number.POSITIVE_INFINITY) >= this.#suspectBefore) {
          this.#inUse.add(client)
          return client
        }
        destroy(client)
        client.release(true)
      }
    } finally {
      this.#asked--
      if (this.count === 0) this.#whenIdle?.()
    }
  }

  async #connect(): Promise<PoolClient> {
    const asked = this.#pool.connect()
    try {
      return survive(await answerOf(asked, this.waitMs))
    } catch (error) {
      if (isTimedOut(error))
        asked.then(
          (late) => late.release(),
          () => {},
        )
      const isFull = this.#pool.idleCount === 0 && this.#pool.totalCount >= this.max
      const isExhausted = isPoolExhausted(error) || (isTimedOut(error) && isFull)
      throw (isExhausted && this.#exhausted?.(this.#pool, this.waitMs)) || error
    }
  }

  /** A connection that failed is destroyed, because its state is unknown. */
  giveBack(client: PoolClient, failure: unknown = null, limitMs = 0): void {
    this.#inUse.delete(client)
    if (failure === null) {
      this.#heardAt.set(client, performance.now())
      client.release()
    } else this.breakOff(client, failure, limitMs, () => client.release(true))
    if (this.count === 0) this.#whenIdle?.()
  }

  breakOff(client: PoolClient, failure: unknown, limitMs: number, onBroken: () => void = () => {}): void {
    const breakNow = () => {
      destroy(client)
      onBroken()
    }
    if (isTimedOut(failure)) {
      this.#suspectBefore = performance.now() - limitMs / 2
      // Cancel before closing: a pooler cannot find the statement of a client that has disconnected.
      void cancelStatement(client).then(breakNow)
      return
    }
    // The others are connected to the same server, which has become a standby.
    if (isReadOnlyFailure(failure)) this.#suspectBefore = performance.now()
    breakNow()
  }

  async use<T>(limitMs: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.take()
    let failure: unknown = null
    try {
      return await work(client)
    } catch (error) {
      if (isConnectionFailure(error) || isStatementLost(error)) failure = error
      throw error
    } finally {
      this.giveBack(client, failure, limitMs)
    }
  }

  /** `onLate` ends what still runs after a while. */
  async close(onLate?: (client: PoolClient) => void): Promise<void> {
    this.#closed = true
    if (!this.isOwn) {
      this.#pool.off('connect', survive)
      return
    }
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve
      if (this.count === 0) resolve()
    })
    // A server that does not answer, or a transaction that nobody ends, must not keep the process from ending.
    await answerOf(idle, CLOSE_MS).catch(() => {
      for (const client of [...this.#inUse]) (onLate ?? destroy)(client)
      return idle
    })
    await this.#pool.end()
  }
}
