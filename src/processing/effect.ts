/** `ctx.once` and `ctx.idempotencyKey`: effects outside the database happen at least once, with a stable key. */

import { sha256 } from '../digest.js'
import { HookonceError } from '../errors.js'
import { type ClaimedEvent, type EventKey, limits } from '../model.js'
import { checkStored, resultText, storedResult } from '../once.js'
import { type EffectState, type EffectStep, need, type Store } from '../store.js'
import { permanent } from './failure.js'
import { NotShareable } from './handle.js'
import type { OnceOptions } from './handler.js'
import type { Scope, Session } from './session.js'

/** The lengths are hashed too, so that `a` + `bc` and `ab` + `c` give different keys. */
export function idempotencyKey({ source, eventId }: EventKey, name: string): string {
  const text = [source, eventId, name].map((value) => `${Buffer.byteLength(value)}:${value}`).join('')
  return `hookonce_${Buffer.from(sha256(Buffer.from(text))).toString('base64url')}`
}

export function onceFor<Tx>(store: Store<Tx>, session: Session<Tx>, scope: Scope<Tx>, claimed: ClaimedEvent) {
  const running = new Map<string, Promise<unknown>>()

  /**
   * The record is written outside the transaction, so that it stays when the attempt fails. A store with one writer cannot
   * do that while a transaction is open.
   */
  async function write(step: EffectStep): Promise<EffectState> {
    const transaction = store.singleWriter ? session.begun() : null
    if (transaction && session.claimed.length > 1) return giveUpSharing(step)
    const keys = need(store, 'keys', 'ctx.once')
    const state = await (transaction ? (await transaction).keys! : keys).effect(step)
    if (state.state === 'fenced')
      throw new HookonceError('LEASE_LOST', { source: claimed.source, eventId: claimed.eventId })
    return state
  }

  /**
   * A record inside a shared transaction would be lost when another event fails. So the group is rolled back, and runs
   * again as single events. A result that is known by now is recorded first.
   */
  async function giveUpSharing(step: EffectStep): Promise<never> {
    if (step.step !== 'start') await recordOutsideTransaction(step)
    const reason = new NotShareable('ctx.once was called while a shared transaction was open')
    session.abort(reason)
    throw reason
  }

  async function run(
    name: string,
    fn: () => unknown,
    { onUnknown = 'repeat' }: OnceOptions,
  ): Promise<unknown> {
    const { lease } = claimed
    const effect = `effect "${name}" of event "${claimed.eventId}"`
    const before = await write({ step: 'start', lease, name })
    if (before.state === 'finished') return storedResult(effect, before.result)
    if (before.state === 'unknown' && onUnknown === 'review') {
      throw permanent(
        `effect "${name}" was begun by an earlier attempt and its result is unknown; check whether it happened, then retry`,
      )
    }
    let result: unknown
    try {
      result = await fn()
    } catch (error) {
      // The effect is known to have failed. If that cannot be written, its result stays unknown.
      await write({ step: 'drop', lease, name }).catch(() => {})
      throw error
    }
    const text = resultText(result, limits.effectResultBytes)
    await write({ step: 'finish', lease, name, result: text })
    try {
      checkStored(effect, text)
    } catch (error) {
      await recordOutsideTransaction({ step: 'finish', lease, name, result: text })
      throw error
    }
    return result
  }

  /**
   * The attempt fails now. A record inside its transaction would be rolled back, and the effect would run again in the next
   * attempt. So the transaction is rolled back here, and the record is written again outside of it.
   */
  async function recordOutsideTransaction(step: EffectStep): Promise<void> {
    const transaction = store.singleWriter ? session.begun() : null
    if (!transaction) return
    await (await transaction).rollback()
    await need(store, 'keys', 'ctx.once').effect(step)
  }

  async function begin(name: string, fn: () => unknown, options: OnceOptions): Promise<unknown> {
    scope.insistOnOpen()
    return run(name, fn, options)
  }

  return <T>(name: string, fn: () => T | Promise<T>, options: OnceOptions = {}): Promise<T> => {
    let known = running.get(name)
    if (!known) {
      known = begin(name, fn, options)
      running.set(name, known)
      known.catch(() => running.delete(name)) // a later call in the same attempt may try again
    }
    return scope.calls.watch(known as Promise<T>)
  }
}
