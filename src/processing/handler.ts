/** What a handler is given and may return: the contract between hookonce and the application. */

import type { Logger } from '../log.js'
import type { RetryPolicy } from './failure.js'

/** An event as its handler sees it. */
export interface HandledEvent<Payload = unknown> {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly reference: string | null
  /** Parsed on first use; after a `schema`, what the schema made of it. For a delivery with several events, its part. */
  readonly payload: Payload
  /** The delivery's bytes as they were received and verified. */
  readonly raw: Uint8Array
  /** The headers that were kept, lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Milliseconds since 1970. */
  readonly receivedAt: number
}

export interface OnceOptions {
  /**
   * When an earlier attempt began this effect and nobody knows how it ended: `repeat` calls it again (with the same
   * idempotency key), `review` ends the event as a dead letter for a person to look at. Default `repeat`.
   */
  readonly onUnknown?: 'repeat' | 'review'
}

export interface HandlerContext<Tx = unknown> {
  /** The transaction of this attempt, begun at first use. What is written through it commits together with the outcome. */
  readonly tx: Tx
  /**
   * Runs `fn` and records its result (as JSON); in a later attempt or replay the recorded result is returned and `fn` is
   * not called. At least once with a stable key, if the process dies between the call and the record.
   */
  once<T>(name: string, fn: () => T | Promise<T>, options?: OnceOptions): Promise<T>
  /** The same in every attempt and replay of this event, and different for every other event and name. */
  idempotencyKey(name: string): string
  /** Counts from 1 since the event was recorded or an operator gave it a new start. */
  readonly attempt: number
  /** Counts replays; 1 at first. */
  readonly run: number
  /** Aborted when the handler's time is over, its lease is lost, or the process must stop. */
  readonly signal: AbortSignal
  /** Ends the event as `ignored` with this reason when the handler returns. */
  ignore(reason: string): void
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

/** Several events in one transaction. When it fails, the events run one by one, so that only the bad event fails. */
export type BatchHandler<Tx = unknown, Payload = unknown> = (
  events: readonly HandledEvent<Payload>[],
  ctx: BatchContext<Tx>,
) => unknown

export interface HandlerOptions {
  readonly retry?: Partial<RetryPolicy>
  /** How long one attempt may take. Default 30,000. */
  readonly timeoutMs?: number
  /** Attempts of this handler at the same time, in this process. Default: the processor's concurrency. */
  readonly concurrency?: number
  /** One event of a reference at a time, in the order received. */
  readonly order?: 'reference'
  /** A number that grows with each newer fact about the reference (a version, a time): older events are ignored as `stale`. */
  readonly stale?: (event: HandledEvent) => number
  /** Any Standard Schema validator. A payload that does not fit is a permanent failure. */
  readonly schema?: StandardSchema
  /** For `onBatch`: events in one transaction at most. Default 50. */
  readonly maxBatch?: number
}

/** As much of https://standardschema.dev as is used here. */
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
