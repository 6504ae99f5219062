/** Faults between an inbox and its store. The wrapped store does what the real one does, except at one call. */
import { HookonceError, type Store } from 'hookonce'
import type { ArchiveTarget } from 'hookonce/archive'
import type { StoreTransaction } from 'hookonce/testing/contracts'
import { signal } from '../support/processing.js'

/**
 * `throw`: the call fails and nothing happens. `done-but-error`: it happens, and the caller is told that it failed.
 * `delay`: it happens late. `freeze`: the whole process stands still before it until `thaw`. `kill-before` and
 * `kill-after`: the process is dead from there on: no call of it is carried out or answered any more, and the database
 * has ended its transactions.
 */
export const faults = ['throw', 'done-but-error', 'delay', 'freeze', 'kill-before', 'kill-after'] as const
export type Fault = (typeof faults)[number]

const DELAY_MS = 30

export class FaultyProcess {
  readonly point: string
  readonly fault: Fault
  /** How often each method was called. */
  readonly calls = new Map<string, number>()
  /** Resolves when the fault has happened. */
  readonly happened = signal()
  hasHappened = false
  readonly #thawed = signal()
  readonly #transactions = new Set<StoreTransaction>()
  #stopped = false
  #dead = false

  constructor(point: string, fault: Fault) {
    this.point = point
    this.fault = fault
  }

  /** True when the process gives no answer now. */
  get isSilent(): boolean {
    return this.#dead || this.#stopped
  }

  thaw(): void {
    this.#stopped = false
    this.#thawed.give()
  }

  store(real: Store): Store {
    const transaction = this.#wrap('log.transaction', async (...args: Parameters<Store['transaction']>) => {
      const begun = await real.transaction(...args)
      this.#transactions.add(begun)
      // The database ends what a dead process had begun, also when the process died while it waited for the answer.
      if (this.#dead) await begun.rollback().catch(() => {})
      return this.#transaction(begun)
    })
    const capabilities = Object.entries(real).filter(([, part]) => typeof part === 'object' && part !== null)
    return {
      ...(this.#methods('log', real) as unknown as Store),
      name: real.name,
      singleWriter: real.singleWriter,
      transaction,
      ...Object.fromEntries(capabilities.map(([name, part]) => [name, this.#methods(name, part as object)])),
    }
  }

  target(real: ArchiveTarget): ArchiveTarget {
    const list = this.#wrap('target.list', async (folder: string) => {
      const names: string[] = []
      for await (const name of real.list(folder)) names.push(name)
      return names
    })
    return {
      ...(this.#methods('target', real) as unknown as ArchiveTarget),
      name: real.name,
      async *list(folder) {
        yield* await list(folder)
      },
    }
  }

  #transaction(real: StoreTransaction): StoreTransaction {
    const over = () => void this.#transactions.delete(real)
    const methods = this.#methods('transaction', real) as unknown as StoreTransaction
    return {
      ...methods,
      tx: real.tx,
      finish: (settlements, onSent) => methods.finish(settlements, onSent).finally(over),
      rollback: () => methods.rollback().finally(over),
      ...(real.keys && { keys: this.#methods('transaction.keys', real.keys) as never }),
      ...(real.replies && { replies: this.#methods('transaction.replies', real.replies) as never }),
    }
  }

  /** The functions of an object, each as a point. */
  #methods(object: string, real: object): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(real).map(([name, value]) => [
        name,
        typeof value === 'function' ? this.#wrap(`${object}.${name}`, value.bind(real)) : value,
      ]),
    )
  }

  #wrap<Args extends unknown[], T>(name: string, real: (...args: Args) => Promise<T>) {
    // The one method without an answer. Everything else is a promise.
    if (name === 'duplicates.count') return this.#wrapSync(name, real as never) as never
    return async (...args: Args): Promise<T> => {
      await this.#gate()
      this.calls.set(name, (this.calls.get(name) ?? 0) + 1)
      if (name !== this.point || this.hasHappened) return this.#answer(real(...args))
      this.#happen()
      switch (this.fault) {
        case 'throw':
          throw this.#error()
        case 'done-but-error':
          await real(...args)
          throw this.#error()
        case 'delay':
          await new Promise((resolve) => setTimeout(resolve, DELAY_MS))
          return real(...args)
        case 'freeze':
          this.#stopped = true
          await this.#thawed.wait
          return real(...args)
        case 'kill-before':
          return this.#die()
        case 'kill-after':
          await real(...args)
          return this.#die()
      }
    }
  }

  #wrapSync(name: string, real: (...args: unknown[]) => void) {
    return (...args: unknown[]): void => {
      if (this.#dead) return
      if (name === this.point && !this.hasHappened) {
        this.#happen()
        if (this.fault === 'throw') throw this.#error()
        if (this.fault.startsWith('kill')) return void this.#die()
      }
      real(...args)
    }
  }

  #happen(): void {
    this.hasHappened = true
    this.happened.give()
  }

  #error(): HookonceError {
    const isCommit = this.point === 'transaction.finish' || this.point === 'transaction.commit'
    return new HookonceError(isCommit ? 'COMMIT_UNKNOWN' : 'STORE_UNAVAILABLE', { problem: 'injected' })
  }

  async #gate(): Promise<void> {
    if (this.#stopped) await this.#thawed.wait
    if (this.#dead) await forever
  }

  /** An answer that arrives while the process stands still, or after its death, is not heard. */
  async #answer<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer
    } finally {
      await this.#gate()
    }
  }

  async #die(): Promise<never> {
    this.#dead = true
    for (const transaction of this.#transactions) await transaction.rollback().catch(() => {})
    return forever
  }
}

const forever = new Promise<never>(() => {})
