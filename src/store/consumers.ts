/**
 * The `consumers` capability: a consumer is a source that follows another one. Its events are rows of the log under its own
 * source name, `stripe/mail`, with the same ids, and share the payloads. Needed by the handler option `consumer` and by
 * destinations. Why: docs/decisions/0009-consumers.md.
 */
import type { Position } from '../model.js'

export interface Consumers {
  /** Makes consumers known. One that is known already keeps its position. */
  open(consumers: readonly NewConsumer[]): Promise<void>
  /** By name. */
  list(): Promise<Consumer[]>
  /**
   * Copies events of the followed source to the consumer and moves its position, in one commit. Left out are events whose
   * payload is gone and those that the consumer has. False = the position was not `from`, and nothing was written.
   */
  copy(copy: ConsumerCopy): Promise<boolean>
}

export interface NewConsumer {
  /** `stripe/mail`. The name of the followed source itself stands for its main consumer, which needs no copies. */
  readonly source: string
  /** `now`: events recorded from now on. A number: events received since this instant; 0 = all. */
  readonly from: 'now' | number
}

export interface Consumer {
  readonly source: string
  /** Every event of the followed source up to here was copied, or was not asked for. */
  readonly position: Position
  readonly startedAt: number
}

export interface ConsumerCopy {
  readonly source: string
  readonly from: Position
  readonly to: Position
  /** In the order they were recorded. At most `limits.listPage`. */
  readonly events: readonly CopiedEvent[]
}

export interface CopiedEvent {
  /** Of the event that is copied. */
  readonly seq: number
  readonly lane: string | null
}
