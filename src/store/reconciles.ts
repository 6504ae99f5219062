/** The `reconciles` capability: the runs of reconcile and their reports. Needed by `inbox.reconcile` and its schedule. */
export interface Reconciles {
  /** Writes a run under its id, and removes all but the last `RUNS_KEPT` runs of its source. */
  note(run: NewReconcileRun): Promise<void>
  /** The latest come first. */
  runs(filter: { readonly source?: string; readonly limit: number }): Promise<ReconcileRun[]>
}

/** At one run an hour: five days. */
export const RUNS_KEPT = 120
export const MAX_REPORT_BYTES = 256 * 1024

export interface NewReconcileRun {
  /** A UUID in lower case. */
  readonly id: string
  readonly source: string
  /** JSON. */
  readonly report: string
}

/** Times are those of the store. */
export interface ReconcileRun extends NewReconcileRun {
  /** When it was first written. */
  readonly startedAt: number
  readonly updatedAt: number
}
