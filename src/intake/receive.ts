/** Checks size, headers and encoding of a delivery first. Adapters use these limits while they read the body. */
import { type Duration, msOf } from '../duration.js'
import { checkOptions, duration, MAX_TIMER_MS, type Rule, shape, whole } from '../options.js'
import type { Delivery } from '../provider.js'

export interface LimitOptions {
  /** Default 1 MiB. */
  readonly bodyBytes?: number
  /** Default 100. */
  readonly headerCount?: number
  /** Names and values together. Default 32 KiB. */
  readonly headerBytes?: number
  /** Limit for all bodies in memory at once; beyond it the answer is 503. Default 64 MiB. */
  readonly allBodiesBytes?: number
  /** How long an adapter waits for the whole body, and the server for the headers. Default `'10s'`. */
  readonly bodyTimeout?: Duration
  /**
   * Time limit to commit a verified delivery. After it the answer is 503, and the sender retries. The first deliveries may
   * wait as long again for the store to open. Default `'5s'`.
   */
  readonly recordTimeout?: Duration
}

export interface IntakeLimits {
  readonly bodyBytes: number
  readonly headerCount: number
  readonly headerBytes: number
  readonly allBodiesBytes: number
  readonly bodyTimeoutMs: number
  readonly recordMs: number
}

export const limitsRule = shape({
  bodyBytes: whole(1),
  headerCount: whole(1),
  headerBytes: whole(1),
  allBodiesBytes: whole(1),
  bodyTimeout: duration(1, MAX_TIMER_MS),
  recordTimeout: duration(1, MAX_TIMER_MS),
} satisfies Record<keyof LimitOptions, Rule>)

export function intakeLimits(options: LimitOptions = {}): IntakeLimits {
  checkOptions('limits', options, limitsRule)
  return {
    bodyBytes: options.bodyBytes ?? 1024 * 1024,
    allBodiesBytes: options.allBodiesBytes ?? 64 * 1024 * 1024,
    headerCount: options.headerCount ?? 100,
    headerBytes: options.headerBytes ?? 32 * 1024,
    bodyTimeoutMs: msOf(options.bodyTimeout, '10s'),
    recordMs: msOf(options.recordTimeout, '5s'),
  }
}

export type Refusal = 'method' | 'body_too_large' | 'headers_too_large' | 'content_encoding'

/** An adapter or the server refused a request before there was a delivery. */
export type EarlyRefusal =
  | Refusal
  | 'unknown_source'
  /** The headers or the body did not arrive in time. */
  | 'timeout'
  /** Not HTTP, or not a request we can read. */
  | 'malformed_request'
  /** Too many bodies are in memory already (`limits.allBodiesBytes`). */
  | 'overloaded'
  /** The sender closed the connection before its body was complete. It gets no answer, and will retry. */
  | 'aborted'

export function refuse(delivery: Delivery, limits: IntakeLimits): Refusal | null {
  if (delivery.body.byteLength > limits.bodyBytes) return 'body_too_large'
  let count = 0
  let bytes = 0
  for (const name in delivery.headers) {
    count++
    bytes += name.length + delivery.headers[name]!.length
  }
  if (count > limits.headerCount || bytes > limits.headerBytes) return 'headers_too_large'
  const encoding = delivery.headers['content-encoding']
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity')
    return 'content_encoding'
  return null
}
