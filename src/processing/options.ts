/** The options of processing, and their checks. */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Duration } from '../duration.js'
import { limits } from '../model.js'
import { duration, MAX_TIMER_MS, type Rule, shape, text, whole } from '../options.js'
import { retryRule } from './failure.js'

/** As many as the PostgreSQL store opens connections for handlers. */
export const DEFAULT_CONCURRENCY = 10
export const DEFAULT_POLL = '1s'

export interface ProcessingOptions {
  /**
   * Attempts at the same time, in this process. Attempts that run for more than a second lend places to other handlers; more
   * run then. Default 10.
   */
  readonly concurrency?: number
  /** Time without a heartbeat after which a lease expires. Default `'30s'`; there are three heartbeats in that time. */
  readonly lease?: Duration
  /** Longest wait between two looks for due events. Default `'1s'`. */
  readonly poll?: Duration
  /** Name of this worker in the attempts. Default: host, process and random characters. */
  readonly worker?: string
}

export const processingRule = shape({
  concurrency: whole(1),
  lease: duration(1, limits.leaseMs),
  poll: duration(1, MAX_TIMER_MS),
  worker: text,
  /** The defaults of `inbox.on`. */
  retry: retryRule,
} satisfies Record<keyof ProcessingOptions | 'retry', Rule>)

export function workerName(): string {
  return `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`
}
