/**
 * The `duplicates` capability: counts of duplicates that are written a little later, not in each `record`. Needed by
 * `seen`, which answers known duplicates without the store.
 */
export interface Duplicates {
  /** Counts duplicates that were answered without the store. Written later, like those that `record` found. */
  count(repeats: readonly Repeat[]): void
  /** Writes the counts of duplicates and conflicts now. Also happens on a timer, and on close. */
  flush(): Promise<void>
}

export interface Repeat {
  readonly seq: number
  readonly at: number
}
