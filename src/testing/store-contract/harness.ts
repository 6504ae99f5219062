/** What a store must bring to be put through the contract, and what a case is. */
import type { Store } from '../../store.js'

/**
 * One log with nothing in it, made anew for each case. Whoever makes the harness also closes the stores it opened
 * and throws the log away when the case is over; a case may have closed some of them already.
 */
export interface StoreHarness<Tx = unknown> {
  /** A new store (its own connections) on the same log. Migrated, unless `migrate` is false. */
  open(options?: { readonly migrate?: boolean }): Promise<Store<Tx>>
  /** Moves the log's clock forward for every store on it. The clock may also run by itself. */
  advance(ms: number): Promise<void>
  /** Inserts a row into a table of the user's in the log's database, through the handler's `ctx.tx`. No unique key. */
  insertEffect(tx: Tx, value: string): Promise<void>
  /** How many such rows are committed, as seen from outside any transaction. */
  countEffects(value: string): Promise<number>
  /** False where no two stores can be told of each other's work (a log in memory). Left out = true. */
  readonly sharedBetweenProcesses?: boolean
}

export interface StoreCase {
  /** A sentence of behaviour. */
  readonly name: string
  /** Rejects with an AssertionError when the store does not behave so. */
  run(harness: StoreHarness): Promise<void>
}
