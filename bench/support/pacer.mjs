/**
 * Tells its parent when requests are due, at a constant rate: request i at i / perSecond after the instant that it was given, by
 * the monotonic clock of the machine. A timer of Node is up to a millisecond late, which would be added to every latency; a thread that
 * sleeps in Atomics.wait is late by less than a tenth of that and uses no CPU meanwhile.
 */
import { parentPort as port, workerData } from 'node:worker_threads'

const parentPort = /** @type {import('node:worker_threads').MessagePort} */ (port)
const { perSecond, count } = workerData
const cell = new Int32Array(new SharedArrayBuffer(4))
const nowMs = () => Number(process.hrtime.bigint()) / 1e6

/** Set by the first message; null ends the thread. */
let startAt = 0
let ended = false
parentPort.on('message', (at) => {
  if (at === null) {
    ended = true
    parentPort.close()
  } else {
    startAt = at
    pace()
  }
})
parentPort.postMessage(0)

let due = 0
function pace() {
  if (ended || due >= count) return
  const waitMs = startAt + (due * 1_000) / perSecond - nowMs()
  if (waitMs > 0) Atomics.wait(cell, 0, 0, waitMs)
  due = Math.min(count, Math.floor(((nowMs() - startAt) * perSecond) / 1_000) + 1)
  parentPort.postMessage(due)
  // So that the message to end is read.
  setImmediate(pace)
}
