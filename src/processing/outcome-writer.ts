/**
 * Writes outcomes without a transaction. Calls while a write is running go into the next write, so that many small writes
 * become few large ones without a timer. Group commit in `intake/group-commit.ts` is the same idea with limits on what waits.
 */
import type { Settlement } from '../model.js'
import type { Store } from '../store.js'

const MAX_SETTLEMENTS = 500

interface Waiting {
  readonly settlement: Settlement
  readonly resolve: (settled: boolean) => void
  readonly reject: (error: unknown) => void
}

export class OutcomeWriter {
  readonly #store: Pick<Store, 'settle'>
  readonly #waiting: Waiting[] = []
  #isBusy = false

  constructor(store: Pick<Store, 'settle'>) {
    this.#store = store
  }

  /** False: the lease is lost, and nothing was written. */
  write(settlement: Settlement): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ settlement, resolve, reject })
      if (this.#isBusy) return
      this.#isBusy = true
      setImmediate(() => void this.#writeAll())
    })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0, MAX_SETTLEMENTS)
      try {
        const settled = await this.#store.settle(calls.map(({ settlement }) => settlement))
        for (const [i, { resolve }] of calls.entries()) resolve(settled[i]!)
      } catch (error) {
        for (const { reject } of calls) reject(error)
      }
    }
    this.#isBusy = false
  }
}
