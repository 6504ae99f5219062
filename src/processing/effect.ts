/**
 * `ctx.once` and `ctx.idempotencyKey`: effects outside the database happen at least once, with a stable key. An effect is new,
 * begun (its end is unknown to a later attempt) or finished. With `lookup` the other service is asked about an unknown one.
 */

import { sha256 } from '../digest.js'
import { ageText, durationText, msOf } from '../duration.js'
import { invalid, isHookonceError } from '../errors.js'
import { type ClaimedEvent, type EventKey, limits } from '../model.js'
import { checkStored, resultText, storedResult } from '../once.js'
import { checkOptions, duration } from '../options.js'
import { type EffectState, type EffectStep, need, type Store } from '../store.js'
import { isDirective, permanent } from './failure.js'
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

  once<T>(name: string, fn: () => T | Promise<T>, options: OnceOptions<T> = {}): Promise<T> {
    let known = this.#running.get(name)
    if (!known) {
      known = this.#run(name, fn, options)
      this.#running.set(name, known)
      known.catch(() => this.#running.delete(name)) // a later call in the same attempt may try again
    }
    return this.#scope.calls.watch(known as Promise<T>)
  }

  async #run(name: string, fn: () => unknown, options: OnceOptions): Promise<unknown> {
    this.#scope.insistOnOpen()
    const { lease, id } = this.#claimed
    const effect = `effect "${name}" of event "${id}"`
    const keepsUnknown = checkOnce(options)
    if (keepsUnknown) this.#insistOnLastingRecord(effect)
    const before = await this.#write({ step: 'start', lease, name })
    if (before.state === 'finished') return storedResult(effect, before.result)
    await this.#insistOnOpenAfter(before, name)
    const calls = callsOf(this.#store)
    const key = `${lease.seq} ${name}`
    let call = runningCall(calls, key)
    if (!call && before.state === 'unknown') {
      const found = await this.#lookBeforeRepeat(name, before.ageMs, options)
      if (found !== null) return this.#keep(effect, name, found)
      this.#scope.insistOnOpen()
    }
    call ??= { result: (async () => fn())(), startedAt: performance.now() }
    calls.set(key, call)
    try {
      return await this.#keep(effect, name, await this.#resultOf(call, name, keepsUnknown))
    } finally {
      if (calls.get(key) === call) calls.delete(key)
    }
  }

  async #keep(effect: string, name: string, result: unknown): Promise<unknown> {
    const text = resultText(result, limits.effectResultBytes)
    await this.#finish(name, text)
    checkStored(effect, text)
    return result
  }

  /** Null: `fn` runs. Else the result that the other service knows. Throws when nobody knows and a repetition may do harm. */
  async #lookBeforeRepeat(
    name: string,
    ageMs: number,
    { lookup, keyLives, onUnknown }: OnceOptions,
  ): Promise<unknown> {
    if (lookup) return this.#lookUp(name, lookup)
    const begun = `effect "${name}" was begun by an earlier attempt ${ageText(ageMs)} ago, and its end is unknown`
    if (keyLives !== undefined && ageMs >= msOf(keyLives, 0))
      throw permanent(
        `${begun}; the other service has forgotten its key, because keyLives is ${durationText(msOf(keyLives, 0))}; ${wayOut(this.#claimed, name)}`,
      )
    if (onUnknown === 'review') throw permanent(`${begun}; ${wayOut(this.#claimed, name)}`)
    return null
  }

  async #lookUp(name: string, lookup: NonNullable<OnceOptions['lookup']>): Promise<unknown> {
    let found: unknown
    try {
      found = await lookup(idempotencyKey(this.#claimed, name))
    } catch (error) {
      // A failure of the store stays one, and the handler may decide how the attempt ends.
      if (isDirective(error) || isHookonceError(error)) throw error
      const problem = `whether effect "${name}" has happened is unknown, because its lookup failed`
      throw new Error(problem, { cause: error })
    }
    // Perhaps a missing `return`: to call again could do harm.
    if (found === undefined)
      throw new TypeError(
        `the lookup of effect "${name}" returned undefined; return the result, or null when it did not happen`,
      )
    return found
  }

  /** A rollback must not undo the record that the effect was begun. */
  #insistOnLastingRecord(effect: string): void {
    if (this.#store.singleWriter && this.#session.transaction)
      throw permanent(
        `${effect} has lookup or keyLives and was called after ctx.tx was used; on this store call it before, because its record is part of the transaction`,
      )
  }

  /** The store may have been slow, and the attempt may be over. Then the effect does not begin. */
  async #insistOnOpenAfter({ state }: EffectState, name: string): Promise<void> {
    try {
      this.#scope.insistOnOpen()
    } catch (error) {
      if (state === 'new')
        await this.#write({ step: 'drop', lease: this.#claimed.lease, name }).catch(() => {})
      throw error
    }
  }

  /** `keepsUnknown`: an error may only be a lost answer. */
  async #resultOf({ result }: Call, name: string, keepsUnknown: boolean): Promise<unknown> {
    try {
      return await result
    } catch (error) {
      if (keepsUnknown) throw error
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

function wayOut({ source, id }: EventKey, name: string): string {
  const retry = `hookonce retry ${source}/${id} --effect`
  return `check there whether it happened, and retry with the answer: ${retry} '${name}=null' when it did not, ${retry} '${name}=<result>' with its result as JSON when it did`
}

/** True when the effect must stay unknown after an error. */
function checkOnce({ lookup, keyLives }: OnceOptions): boolean {
  if (lookup !== undefined && typeof lookup !== 'function')
    throw invalid('ctx.once: `lookup`', 'must be a function')
  if (keyLives !== undefined) checkOptions('ctx.once: `keyLives`', keyLives, duration(0, limits.delayMs))
  return lookup !== undefined || keyLives !== undefined
}

function runningCall(calls: ReadonlyMap<string, Call>, key: string): Call | null {
  const call = calls.get(key)
  return call && performance.now() - call.startedAt < JOIN_MS ? call : null
}
