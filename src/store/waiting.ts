/** For the question why an event waits. Part of the `inspect` capability. */

/** Where an unfinished event stands in the log. Its due time is that of the event, also while a lease on it is live. */
export interface Standing {
  readonly seq: number
  /** The clock of the store. */
  readonly now: number
  readonly dueAt: number
  /** Null when no lease on it is live. */
  readonly lease: { readonly worker: string; readonly claimedAt: number } | null
  /** Its last claim ended with a release: its handler postponed it, or it did not begin. */
  readonly isReleased: boolean
  /** The event of its lane that has to finish first. */
  readonly before: EventBefore | null
}

export interface EventBefore {
  readonly id: string
  /** Null while it is being handled. */
  readonly dueAt: number | null
}
