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

export interface OnceOptions<T = unknown> {
  /**
   * Asks the other service whether this effect has happened, when an earlier attempt began it and its end is unknown. Called
   * with `ctx.idempotencyKey(name)`. A result is recorded in place of a call, `null` = it did not happen and `fn` runs; when
   * `lookup` throws, the attempt fails and a later one asks again.
   */
  readonly lookup?: (key: string) => T | null | Promise<T | null>
  /**
   * How long the other service remembers the idempotency key. An effect whose end is unknown and that was begun longer ago is
   * not repeated without `lookup`: the event becomes a dead letter, and a person decides. Default: for ever.
   */
  readonly keyLives?: Duration
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
  once<T>(name: string, fn: () => T | Promise<T>, options?: OnceOptions<T>): Promise<T>
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
  /**
   * Adds something that the event is about, such as an id that the handler has made: `ctx.refer('attempt', id)`. It is
   * written together with the outcome, and not when the attempt fails. The event is then found, and erased, by it.
   */
  refer(label: string, value: string | number): void
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
  /** Adds something that this event of the batch is about. */
  refer(event: HandledEvent, label: string, value: string | number): void
}

/** Several events in one transaction. When it fails, each event runs alone, and only the bad one fails. */
export type BatchHandler<Tx = unknown, Payload = unknown> = (
  events: readonly HandledEvent<Payload>[],
  ctx: BatchContext<Tx>,
) => unknown

export type ConsumerStart = 'now' | 'start' | Duration

/** Needs `concurrency` or `perSecond`, or both. */
export interface HandlerLimit {
  /** Calls of the handler at the same time. */
  readonly concurrency?: number
  /** Calls that begin within any second. Below 1 for fewer: 0.5 is one in two seconds. */
  readonly perSecond?: number
  /** Each reference has a limit of its own. */
  readonly by?: 'reference'
}

export interface HandlerOptions {
  /** Overrides `processing.retry` for this handler. */
  readonly retry?: Partial<RetryPolicy>
  /** Time limit of one attempt. Default `'30s'`. */
  readonly timeout?: Duration
  /**
   * The consumer that this handler belongs to, which handles each event for itself: with its own state, attempts and retries,
   * under the source name `stripe/mail`. Default: the main consumer of the source.
   */
  readonly consumer?: string
  /**
   * For a consumer that the log does not know yet: `now` = events recorded from now on, `start` = all that are in the log, or
   * an age such as `'7d'`. Default `now`.
   */
  readonly from?: ConsumerStart
  /** What all processes of the log together run of this handler. Default: no limit beside `processing.concurrency`. */
  readonly limit?: HandlerLimit
  /** Runs the events of one reference one at a time, in the order received: `reference`, or a label such as `customer`. */
  readonly order?: string
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
