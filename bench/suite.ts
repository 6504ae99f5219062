/** The contract of a suite: what it gets, and what it returns. `suites/` holds one file for each. */
import type { Bench } from './bench.js'

export interface Suite {
  readonly name: string
  readonly title: string
  /** Its part of a run of 40 minutes. */
  readonly minutes: number
  /** Why it does not run with these options; null = it runs. */
  skip?(bench: { readonly otherNode: string | null }): string | null
  run(bench: Bench): Promise<Findings>
}

export interface Findings {
  readonly tables: readonly Table[]
  /** Single figures for the table of aims, by name. */
  readonly figures: Readonly<Record<string, number>>
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

export type Cell = string | number

/** The result of a suite in one run, as it is kept in `bench/results`. */
export interface SuiteResult extends Findings {
  readonly name: string
  readonly title: string
  readonly at: string
  readonly seconds: number
  /** Rounds, sizes and sides that were left out. */
  readonly notes: readonly string[]
  readonly failure: string | null
  readonly skipped: string | null
}
