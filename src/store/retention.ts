/** The `retention` capability: removes old rows. Needed by the inbox option `retention`, `inbox.retain` and `hookonce prune`. */
export interface Retention {
  /** Removes expired payloads, events, attempts and audits of one source. Never an unfinished event. */
  prune(options: PruneOptions): Promise<PruneResult>
  /**
   * Creates partitions ahead of time and drops whole old ones, where the store has partitions. Only one process at a
   * time does this.
   */
  maintain(options: MaintainOptions): Promise<MaintainReport>
}

export interface PruneOptions {
  readonly source: string
  /** Remove payloads of finished events received before this instant. */
  readonly payloadsBefore?: number
  /** Remove finished events, and their keys, received before this instant: the dedupe horizon. */
  readonly eventsBefore?: number
  /** Remove attempts of finished events that ended before this instant. The attempt count of the event stays. */
  readonly attemptsBefore?: number
  /** Remove audits older than this: those of this source, and those of no source. */
  readonly auditsBefore?: number
  /** Keep payloads that are not in a verified archive (`store.archive.archived`), and the events of such payloads. */
  readonly archivedOnly?: boolean
  /** At most this many rows of each kind in this call. */
  readonly limit: number
  readonly dryRun?: boolean
}

export interface PruneResult {
  readonly payloads: number
  readonly events: number
  readonly attempts: number
  readonly audits: number
  /** True when the limit was reached and another call would remove more. */
  readonly more: boolean
}

export interface MaintainOptions {
  /** By source: payloads received before this instant may be dropped. Payloads of other sources are kept. */
  readonly payloadsBefore: Readonly<Record<string, number>>
  /** For these sources, drop only payloads that are in a verified archive. */
  readonly archivedOnly?: readonly string[]
  readonly dryRun?: boolean
}

export interface MaintainReport {
  /** Dropped partitions, with the period each covered. Always empty where the store has no partitions. */
  readonly dropped: readonly DroppedPartition[]
  readonly created: readonly string[]
  /** Number of whole partitions ahead of now; null where the store has none. */
  readonly ahead: number | null
  /**
   * By source: the instant before which `prune` is to remove payloads row by row. Later payloads are dropped with their
   * partition. Equals `payloadsBefore` where the store has no partitions.
   */
  readonly pruneBefore: Readonly<Record<string, number>>
  /** True when another process was doing this: nothing was changed. */
  readonly busy: boolean
  /** The store's clock, milliseconds. Ages are measured against it. */
  readonly now: number
}

export interface DroppedPartition {
  readonly name: string
  /** Milliseconds, inclusive / exclusive. */
  readonly from: number
  readonly to: number
  /** Exact for small partitions, otherwise the database's estimate. */
  readonly payloads: number
}
