/** What a test of a store must provide, and the form of a case. */
import type { Capability, CompleteStore, Store } from '../../store.js'

/**
 * One empty log, made anew for each case. The maker of the harness also closes the stores it opened and deletes the log
 * when the case is over; a case may have closed some of them already.
 */
export interface StoreHarness<Tx = unknown> {
  /** A new store (its own connections) on the same log. Migrated, unless `migrate` is false. */
  open(options?: { readonly migrate?: boolean }): Promise<Store<Tx>>
  /** Moves the log's clock forward for every store on it. The clock may also run by itself. */
  advance(ms: number): Promise<void>
  /** Inserts a row into a user's table in the log's database, through the handler's `ctx.tx`. No unique key. */
  insertEffect(tx: Tx, value: string): Promise<void>
  /** How many such rows are committed, as seen from outside any transaction. */
  countEffects(value: string): Promise<number>
  /** False where two stores cannot notice each other's work (a log in memory). Left out = true. */
  readonly sharedBetweenProcesses?: boolean
}

export interface StoreCase {
  /** The section (`log` or a capability), then a sentence of behaviour. */
  readonly name: string
  /** The capabilities that the case calls. */
  readonly needs: readonly Capability[]
  /** The reason why a store cannot run this case; set by `storeContractFor`. */
  readonly skip?: string
  /** Rejects with an AssertionError when the store does not behave so. */
  run(harness: StoreHarness): Promise<void>
}

/** The harness inside a case: the capabilities it calls are there, because the case is left out otherwise. */
export interface CaseHarness<Tx = unknown> extends StoreHarness<Tx> {
  open(options?: { readonly migrate?: boolean }): Promise<CompleteStore<Tx>>
}

/** A case as it is written in its section. */
export interface ContractCase {
  readonly name: string
  /** Capabilities beside the section's own. */
  readonly needs?: readonly Capability[]
  run(harness: CaseHarness): Promise<void>
}
