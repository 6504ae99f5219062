/**
 * Group commit. Deliveries that arrive while commits are under way wait, and share the next insert and flush. A delivery
 * never waits for others to arrive. When the queue is full, senders get 503 and retry.
 */
import { timeLimits } from '../clock.js'
import { HookonceError } from '../errors.js'
import type { NewDelivery } from '../model.js'
import type { BatchRecorder, Recording } from '../recorder.js'

export interface GroupCommitOptions {
  /** Default 256 deliveries. */
  readonly maxBatch?: number
  /** Default 4 MiB of bodies. */
  readonly maxBatchBytes?: number
  /** Commits under way at once. Default 2: one is being flushed while the next one is on its way. */
  readonly maxUnderWay?: number
  /** Default 10,000 deliveries. */
  readonly maxWaiting?: number
  /** Default 64 MiB of bodies. */
  readonly maxWaitingBytes?: number
  /** Time limit from the arrival in the queue to the end of the commit. Default: none. */
  readonly withinMs?: number
  readonly onCommit?: (deliveries: number, ms: number) => void
}

interface Waiter {
  readonly delivery: NewDelivery
  readonly resolve: (recording: Recording) => void
  readonly reject: (error: unknown) => void
}

export function groupCommit(next: BatchRecorder, options: GroupCommitOptions = {}) {
  const { maxBatch = 256, maxBatchBytes = 4 * 1024 * 1024, maxUnderWay = 2 } = options
  const { maxWaiting = 10_000, maxWaitingBytes = 64 * 1024 * 1024, withinMs = null, onCommit } = options
  let queue: Waiter[] = []
  let queuedBytes = 0
  let underWay = 0
  let scheduled = false
  let whenIdle: (() => void)[] = []
  const inTime = withinMs === null ? null : timeLimits(withinMs, giveUp)

  /**
   * Resolves after the commit. Rejects with STORE_BUSY when the queue is full, STORE_UNAVAILABLE after `withinMs`, or the
   * error of the store. A delivery that ran out of time may still be recorded: the sender's retry is then a duplicate.
   */
  function record(delivery: NewDelivery): Promise<Recording> {
    const bytes = delivery.body.byteLength
    if (queue.length >= maxWaiting || (queue.length > 0 && queuedBytes + bytes > maxWaitingBytes)) {
      return Promise.reject(
        new HookonceError('STORE_BUSY', { problem: `${queue.length} deliveries wait for a commit` }),
      )
    }
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { delivery, resolve, reject }
      inTime?.set(waiter)
      queue.push(waiter)
      queuedBytes += bytes
      // Requests that are read from many sockets in one turn of the event loop share a commit.
      if (!scheduled && underWay < maxUnderWay) {
        scheduled = true
        setImmediate(commitNext)
      }
    })
  }

  /** Removes a delivery whose commit has not begun: otherwise the queue grows behind a commit that hangs. */
  function giveUp(waiter: Waiter): void {
    const at = queue.indexOf(waiter)
    if (at >= 0) {
      queue.splice(at, 1)
      queuedBytes -= waiter.delivery.body.byteLength
    }
    waiter.reject(new HookonceError('STORE_UNAVAILABLE', { problem: `no commit within ${withinMs} ms` }))
  }

  function commitNext(): void {
    scheduled = false
    while (queue.length > 0 && underWay < maxUnderWay) void commit(takeBatch())
  }

  function takeBatch(): Waiter[] {
    let bytes = 0
    let size = 0
    while (size < queue.length && size < maxBatch) {
      const next = queue[size]!.delivery.body.byteLength
      if (size > 0 && bytes + next > maxBatchBytes) break
      bytes += next
      size++
    }
    const batch = size === queue.length ? queue : queue.slice(0, size)
    queue = size === queue.length ? [] : queue.slice(size)
    queuedBytes -= bytes
    return batch
  }

  async function commit(batch: Waiter[]): Promise<void> {
    underWay++
    const startedAt = performance.now()
    try {
      const recordings = await next.record(batch.map((waiter) => waiter.delivery))
      // Spooled and failed deliveries are not part of the commit. Duplicates are: the store has looked them up.
      const recorded = recordings.reduce((count, recording) => count + (Array.isArray(recording) ? 1 : 0), 0)
      if (recorded > 0) onCommit?.(recorded, performance.now() - startedAt)
      for (const [i, { resolve, reject }] of batch.entries()) {
        const recording = recordings[i]!
        if (recording instanceof HookonceError) reject(recording)
        else resolve(recording)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      for (const waiter of batch) inTime?.clear(waiter)
      underWay--
      if (queue.length > 0) commitNext()
      else if (underWay === 0) {
        for (const resolve of whenIdle) resolve()
        whenIdle = []
      }
    }
  }

  function idle(): Promise<void> {
    if (queue.length === 0 && underWay === 0) return Promise.resolve()
    return new Promise((resolve) => whenIdle.push(resolve))
  }

  return {
    record,
    idle,
    get waiting() {
      return queue.length
    },
  }
}
