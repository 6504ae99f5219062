/**
 * The `duplicates` capability: counts of duplicates that are written a little later, not in each `record`. Needed by
 * `seen`, which answers known duplicates without the store.
 */
export interface Duplicates {
  count(repeats: readonly Repeat[]): void
  /** Writes the counts now. A timer and `close` do it too. */
  flush(): Promise<void>
}

export interface Repeat {
  readonly seq: number
  readonly at: number
}
