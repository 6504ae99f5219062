/** `ctx.once` and `ctx.idempotencyKey`: effects outside the database happen at least once, with a stable key. */

import { sha256 } from '../digest.js'
import { isHookonceError } from '../errors.js'
import { type ClaimedEvent, type EventKey, limits } from '../model.js'
import { checkStored, resultText, storedResult } from '../once.js'
import { type EffectState, type EffectStep, need, type Store } from '../store.js'
import { permanent } from './failure.js'
import type { OnceOptions } from './handler.js'
import { leaseLost, NeedsOwnTransaction } from './result.js'
import type { Scope, Session } from './session.js'

/** The lengths are hashed too, so that `a` + `bc` and `ab` + `c` give different keys. */
export function idempotencyKey({ source, id }: EventKey, name: string): string {
  const text = [source, id, name].map((value) => `${Buffer.byteLength(value)}:${value}`).join('')
  return `hookonce_${Buffer.from(sha256(Buffer.from(text))).toString('base64url')}`
}

const callsOfStore = new WeakMap<object, Map<string, Call>>()

interface Call {
  readonly result: Promise<unknown>
  readonly startedAt: number
}

/** A call that takes longer will probably never end: a later attempt does not join it, but calls again. */
const JOIN_MS = 10 * 60_000

function callsOf(store: object): Map<string, Call> {
  const calls = callsOfStore.get(store) ?? new Map<string, Call>()
  callsOfStore.set(store, calls)
  return calls
}

export class Effects<Tx> {
  readonly #store: Store<Tx>
  readonly #session: Session<Tx>
  readonly #scope: Scope<Tx>
  readonly #claimed: ClaimedEvent
  /** Two calls of one name at the same time are one. */
  readonly #running = new Map<string, Promise<unknown>>()

  constructor(store: Store<Tx>, session: Session<Tx>, scope: Scope<Tx>, claimed: ClaimedEvent) {
    this.#store = store
    this.#session = session
    this.#scope = scope
    this.#claimed = claimed
  }

  once<T>(name: string, fn: () => T | Promise<T>, options: OnceOptions = {}): Promise<T> {
    let known = this.#running.get(name)
    if (!known) {
      known = this.#run(name, fn, options)
      this.#running.set(name, known)
      known.catch(() => this.#running.delete(name)) // a later call in the same attempt may try again
    }
    return this.#scope.calls.watch(known as Promise<T>)
  }

  async #run(name: string, fn: () => unknown, { onUnknown = 'repeat' }: OnceOptions): Promise<unknown> {
    this.#scope.insistOnOpen()
    const { lease, id } = this.#claimed
    const effect = `effect "${name}" of event "${id}"`
    const before = await this.#write({ step: 'start', lease, name })
    if (before.state === 'finished') return storedResult(effect, before.result)
    const calls = callsOf(this.#store)
    const key = `${lease.seq} ${name}`
    const joined = runningCall(calls, key)
    if (before.state === 'unknown' && onUnknown === 'review' && !joined) {
      throw permanent(
        `effect "${name}" was begun by an earlier attempt and its result is unknown; check whether it happened, then retry`,
      )
    }
    const call = joined ?? { result: (async () => fn())(), startedAt: performance.now() }
    calls.set(key, call)
    try {
      const result = await this.#resultOf(call, name)
      const text = resultText(result, limits.effectResultBytes)
      await this.#finish(name, text)
      checkStored(effect, text)
      return result
    } finally {
      if (calls.get(key) === call) calls.delete(key)
    }
  }

  async #resultOf({ result }: Call, name: string): Promise<unknown> {
    try {
      return await result
    } catch (error) {
      // The effect is known to have failed. If that cannot be written, its result stays unknown.
      await this.#write({ step: 'drop', lease: this.#claimed.lease, name }).catch(() => {})
      throw error
    }
  }

  /** An effect may end after its attempt. Its result is then recorded too, if no other attempt has begun. */
  async #finish(name: string, result: string): Promise<void> {
    const step = { step: 'finish', lease: this.#claimed.lease, name, result } as const
    try {
      await this.#write(step)
    } catch (error) {
      if (isHookonceError(error, 'LEASE_LOST'))
        await need(this.#store, 'keys', 'ctx.once')
          .effect({ ...step, late: true })
          .catch(() => {})
      throw error
    }
  }

  /**
   * The record is written outside the transaction, to stay when the attempt fails. A store with one writer cannot do that
   * while a transaction is open: there a result is written again when the transaction is rolled back.
   */
  async #write(step: EffectStep): Promise<EffectState> {
    const session = this.#session
    const keys = need(this.#store, 'keys', 'ctx.once')
    // After an abort the transaction is rolled back, and the writer is free.
    const transaction = this.#store.singleWriter && !session.reason ? session.transaction : null
    if (transaction && step.step !== 'start') session.afterRollback(() => keys.effect(step))
    if (transaction && session.claimed.length > 1) {
      // The record would be lost when another event of the transaction fails.
      session.abort(
        new NeedsOwnTransaction('ctx.once was called while the transaction of several events was open'),
      )
      throw session.reason
    }
    const state = await (transaction ? (await transaction).keys! : keys).effect(step)
    if (state.state === 'fenced') throw leaseLost(this.#claimed)
    return state
  }
}

function runningCall(calls: ReadonlyMap<string, Call>, key: string): Call | null {
  const call = calls.get(key)
  return call && performance.now() - call.startedAt < JOIN_MS ? call : null
}
