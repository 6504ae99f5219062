/** The contract of a suite: what it gets, and what it returns. `suites/` holds one file for each. */
import type { Bench } from './bench.js'
import type { Plot } from './report/plot.js'

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
  /** Single figures for the table of aims and the documents, by name. */
  readonly figures: Readonly<Record<string, number>>
  readonly plots: readonly Plot[]
}

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

export type Cell = string | number

/** The result of a suite in one run, as it is kept in `results/<date>.json`. */
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
