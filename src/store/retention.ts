/** The `retention` capability: removes old rows. Needed by the inbox option `retention`, `inbox.retain` and `hookonce prune`. */
export interface Retention {
  /** Never removes an unfinished event. */
  prune(options: PruneOptions): Promise<PruneResult>
  /** Creates partitions ahead of time and drops whole old ones, in one process at a time. */
  maintain(options: MaintainOptions): Promise<MaintainReport>
}

export interface PruneOptions {
  readonly source: string
  /** Payloads of finished events received before this instant. */
  readonly payloadsBefore?: number
  /** Finished events, and their keys, received before this instant: the dedupe horizon. */
  readonly eventsBefore?: number
  /** Attempts of finished events that ended before this instant. The attempt count of the event stays. */
  readonly attemptsBefore?: number
  /** Audits of this source and of no source. */
  readonly auditsBefore?: number
  /** Keep payloads that are not in a verified archive (`store.archive.archived`), and the events of such payloads. */
  readonly archivedOnly?: boolean
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
  /** Payloads of a source that were received before may be dropped. Payloads of other sources are kept. */
  readonly payloadsBefore: Readonly<Record<string, number>>
  /** Drop only payloads of these sources that are in a verified archive. */
  readonly archivedOnly?: readonly string[]
  readonly dryRun?: boolean
}

export interface MaintainReport {
  readonly dropped: readonly DroppedPartition[]
  readonly created: readonly string[]
  /** Whole partitions ahead of now; null where the store has none. */
  readonly ahead: number | null
  /**
   * By source: `prune` is to remove payloads received before this instant row by row. Later ones are dropped with their
   * partition.
   */
  readonly pruneBefore: Readonly<Record<string, number>>
  /** Another process was doing this, and nothing was changed. */
  readonly busy: boolean
  /** The store's clock. Ages are measured against it. */
  readonly now: number
}

export interface DroppedPartition {
  readonly name: string
  readonly from: number
  readonly to: number
  /** Exact for small partitions, otherwise the database's estimate. */
  readonly payloads: number
}
