/**
 * `crashAt(step)`: once, the store sees exactly what it would see if the process died at this step. The lease of the event
 * stays until it expires, so `advance('1m')` lets another attempt begin.
 *
 *   record   after the commit, before the answer: the sender gets no 2xx and delivers again
 *   claim    after the claim, before the handler was called
 *   effect   after the function of `ctx.once` has run, before its result was recorded
 *   handle   after the handler has returned, before anything was committed
 *   settle   after the commit
 */
import { HookonceError, invalid } from '../../errors.js'
import type { Settlement } from '../../model.js'
import type { EffectStep, Keys, Store, StoreTransaction } from '../../store.js'

const steps = ['record', 'claim', 'effect', 'handle', 'settle'] as const
export type CrashStep = (typeof steps)[number]

export interface Crashes {
  at(step: CrashStep): void
  readonly armed: CrashStep | null
}

export function crashing<Tx>(store: Store<Tx>): { readonly store: Store<Tx>; readonly crashes: Crashes } {
  let armed: CrashStep | null = null
  /** The tokens of attempts that died at the step `effect`. */
  const dead = new Set<string>()
  function dies(step: CrashStep): boolean {
    if (armed !== step) return false
    armed = null
    return true
  }

  /** The effect step `finish` comes after the function has run. `fenced` ends the attempt without a write. */
  function effectOf(keys: Pick<Keys, 'effect'>): Keys['effect'] {
    return async (step: EffectStep) => {
      if (step.step === 'finish' && dies('effect')) dead.add(step.lease.token)
      return dead.has(step.lease.token) ? { state: 'fenced' } : keys.effect(step)
    }
  }

  /** False for each settlement: the attempt ends as if its lease were lost, and writes nothing. */
  async function settling(
    settlements: readonly Settlement[],
    write: () => Promise<boolean[]>,
  ): Promise<boolean[]> {
    if (dies('handle')) return settlements.map(() => false)
    const written = await write()
    return dies('settle') ? settlements.map(() => false) : written
  }

  function transactionOf(transaction: StoreTransaction<Tx>): StoreTransaction<Tx> {
    const { keys } = transaction
    return {
      ...transaction,
      tx: transaction.tx,
      settle: (settlements) => transaction.settle(settlements),
      commit: () => transaction.commit(),
      rollback: () => transaction.rollback(),
      async finish(settlements, onSent) {
        if (dies('handle')) {
          await transaction.rollback()
          return false
        }
        const finished = await transaction.finish(settlements, onSent)
        dies('settle')
        return finished
      },
      ...(keys ? { keys: { ...keys, effect: effectOf(keys) } } : {}),
    }
  }

  const changed: Partial<Store<Tx>> = {
    async record(deliveries, claim) {
      // An event that is handled in its request would have no step `claim`, and after the crash its lease would have to end.
      const verdicts = await (armed ? store.record(deliveries) : store.record(deliveries, claim))
      if (dies('record')) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'the test crashed here' })
      return verdicts
    },
    async claim(options) {
      const claimed = await store.claim(options)
      return claimed.length > 0 && dies('claim') ? [] : claimed
    },
    settle: (settlements) => settling(settlements, () => store.settle(settlements)),
    transaction: async (options) => transactionOf(await store.transaction(options)),
    ...(store.keys ? { keys: { ...store.keys, effect: effectOf(store.keys) } } : {}),
  }

  return {
    store: withMethods(store, changed),
    crashes: {
      at(step) {
        if (!steps.includes(step)) throw invalid('crashAt(step)', `must be one of ${steps.join(', ')}`)
        armed = step
      },
      get armed() {
        return armed
      },
    },
  }
}

/** A proxy, because a store may be an instance of a class. */
function withMethods<T extends object>(object: T, changed: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return changed[name as keyof T]
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
