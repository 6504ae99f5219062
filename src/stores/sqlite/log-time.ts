/**
 * The time of the log: the host's clock, but never before the newest time that any process has written into this log. It
 * is kept in a row of its own, so that a restart and other processes know it too; `forwardClock` says how time goes on
 * when the host's clock is behind it.
 */
import type { Connection } from './connection.js'

/**
 * Written this often at most: one more page in ten commits a second costs nothing, one in each would. After a restart, or
 * in another process, time may therefore start so much too early, and something due comes so much late.
 */
const NOTE_EVERY_MS = 100

const read = 'select at from hookonce_clock'
const raise = `update hookonce_clock set at = ?1 where at <= ?1 - ${NOTE_EVERY_MS}`

export function logTime(connection: Connection, now: number): number {
  return Math.max(now, Number(connection.prepare(read).get()?.at ?? 0))
}

/** Inside a write transaction: whoever comes later is not earlier. */
export function noteLogTime(connection: Connection, now: number): void {
  connection.prepare(raise).run(now)
}
