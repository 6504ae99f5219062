/**
 * The `archive` capability: moves payloads out of the log and back, and erases them. Needed by `retention.archive`,
 * `hookonce archive`, `inbox.erase` and `hookonce erase`.
 */
import type { Reference, State } from '../model.js'

export interface Archive {
  /** Deliveries whose payload is stored, in the order they entered the log. */
  export(options: ExportOptions): Promise<ExportPage>
  /**
   * Stores which payloads an archive contains, for `archivedOnly`. A second receipt of an object replaces the first. It is
   * removed together with the event.
   */
  archived(receipts: readonly ArchiveReceipt[]): Promise<void>
  receipts(day: ArchiveDay): Promise<ArchiveReceipt[]>
  /**
   * Puts back payloads that retention removed. False = there is no such event, its payload is stored, or it was erased.
   * The same id may have been recorded again since, as another event: time of arrival and content hash must match too.
   * The caller has compared the bytes with the receipt.
   */
  restore(deliveries: readonly StoredDelivery[]): Promise<boolean[]>
  /**
   * Removes the payload of every delivery with an event of this reference, for good, and of its events the labelled
   * references, the errors of handlers and the results of effects; the events stay, so duplicates are still detected. A delivery with an event in `processing`, or with an unfinished event of another reference, is left for
   * a later call. A store with `audit` writes an entry even when nothing was found.
   */
  erase(options: EraseOptions): Promise<EraseResult>
}

export interface StoredDelivery {
  /** The seq under which its payload is stored. */
  readonly seq: number
  readonly source: string
  readonly receivedAt: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly events: readonly StoredEvent[]
}

export interface StoredEvent {
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** By label; for readers of the archive. `restore` leaves those of the log. */
  readonly references?: readonly Reference[]
  readonly contentHash: string | null
  readonly part: number
  readonly state: State
}

export interface ExportOptions {
  readonly source: string
  /** Period of arrival, in milliseconds, inclusive / exclusive. */
  readonly from: number
  readonly to: number
  /** `next` of the previous page; 0 = from the start. */
  readonly after: number
  readonly limit: number
  /** Only payloads that no verified archive has. */
  readonly unarchived?: boolean
}

/** A page may be shorter than `limit`, or empty, and still have a next one: the bytes and rows read are bounded. */
export interface ExportPage {
  readonly deliveries: readonly StoredDelivery[]
  readonly next: number | null
}

export interface ArchiveDay {
  readonly source: string
  /** UTC day of arrival, `yyyy-mm-dd`. */
  readonly day: string
}

/** These payloads are in an archive object that was read back and verified. */
export interface ArchiveReceipt extends ArchiveDay {
  /** Counts the objects of a day, from 1. */
  readonly object: number
  readonly seqs: readonly number[]
  /** Hexadecimal. An object with another one is not restored. */
  readonly sha256: string
}

export interface EraseOptions {
  /** The value of a reference of any label. */
  readonly reference: string
  /** Only references with this label. */
  readonly label?: string
  readonly source?: string
  readonly actor: string
  readonly note: string
  readonly limit: number
  readonly dryRun?: boolean
}

export interface EraseResult {
  readonly payloads: number
  /** Events that now count as erased, with other events of these deliveries and those whose payload retention had removed. */
  readonly events: number
  /** Deliveries left for a later call: an event is being processed, or one of another reference is unfinished. */
  readonly busy: number
  /** Archived objects that still hold some of these payloads. */
  readonly archived: readonly ArchivedIn[]
  readonly more: boolean
}

export type ArchivedIn = Pick<ArchiveReceipt, 'source' | 'day' | 'object'>
