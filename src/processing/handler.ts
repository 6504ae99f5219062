/** The contract between hookonce and a handler: its event, its context, its options. */

import type { Duration } from '../duration.js'
import type { Logger } from '../log.js'
import type { RetryPolicy } from './failure.js'

export interface HandledEvent<Payload = unknown> {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /**
   * Parsed at first use; with a `schema`, the value that the schema returned. For a delivery with several events, the
   * slice of this event.
   */
  readonly payload: Payload
  /** The delivery's bytes as they were received and verified. */
  readonly raw: Uint8Array
  /** The bytes of this event: `raw`, or its slice of `raw` if the delivery carries several events. */
  readonly slice: Uint8Array
  /** The headers that were stored, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly receivedAt: number
}

export interface OnceOptions {
  /**
   * What to do when an earlier attempt began this effect and its result is unknown. `repeat` calls it again (with the same
   * idempotency key); `review` makes the event a dead letter, and a person decides. Default `repeat`.
   */
  readonly onUnknown?: 'repeat' | 'review'
}

export interface HandlerContext<Tx = unknown> {
  /** The transaction of this attempt, begun at first use. Its writes commit together with the outcome. */
  readonly tx: Tx
  /**
   * Runs `fn` and records its result as JSON. In a later attempt or replay the recorded result is returned and `fn` is not
   * called. If the process dies between the call and the record, `fn` runs again: pass `idempotencyKey` to the other side.
   */
  once<T>(name: string, fn: () => T | Promise<T>, options?: OnceOptions): Promise<T>
  /** Stable: every attempt and replay of this event has this key, and no other event or name has it. */
  idempotencyKey(name: string): string
  /** The number of the attempt, from 1, since the event was recorded or an operator retried it. */
  readonly attempt: number
  /** 1 at first; each replay adds 1. */
  readonly run: number
  /** Aborted when the handler runs out of time, its lease is lost, or the process stops. */
  readonly signal: AbortSignal
  /** Ends the event as `ignored` with this reason when the handler returns. */
  ignore(reason: string): void
  /** Its lines carry the source, the event id, the type and the attempt. */
  readonly log: Logger
}

export type Handler<Tx = unknown, Payload = unknown> = (
  event: HandledEvent<Payload>,
  ctx: HandlerContext<Tx>,
) => unknown

export interface BatchContext<Tx = unknown> extends Pick<HandlerContext<Tx>, 'tx' | 'signal' | 'log'> {
  /** Ends this event of the batch as `ignored` with this reason when the handler returns. */
  ignore(event: HandledEvent, reason: string): void
}

/** Several events in one transaction. When it fails, each event runs alone, and only the bad one fails. */
export type BatchHandler<Tx = unknown, Payload = unknown> = (
  events: readonly HandledEvent<Payload>[],
  ctx: BatchContext<Tx>,
) => unknown

export interface HandlerOptions {
  readonly retry?: Partial<RetryPolicy>
  /** Time limit of one attempt. Default `'30s'`. */
  readonly timeout?: Duration
  /** Attempts of this handler at the same time, in this process. Default: the processor's concurrency. */
  readonly concurrency?: number
  /** Runs the events of one reference one at a time, in the order received. */
  readonly order?: 'reference'
  /** A number that grows with each change of the reference (a version, a time). Older events are ignored as `stale`. */
  readonly stale?: (event: HandledEvent) => number
  /** Any Standard Schema validator. An event whose payload does not fit becomes a dead letter. */
  readonly schema?: StandardSchema
  /** For `onBatch`: the most events in one call and transaction. Default 50. */
  readonly maxBatch?: number
  /**
   * For `on`: up to so many events run one after the other in one transaction while there is a backlog, at most 1,000. When
   * one of them fails, all are rolled back and run again alone. Default 1.
   */
  readonly share?: number
}

/** The subset of https://standardschema.dev that is used here. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly output: Output } | undefined
  }
}
type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[]
    }
