/**
 * One timer for all bodies being read: arming and clearing a timer for each request showed in the profile of a busy
 * intake, and a slow sender need not be cut off to the millisecond.
 */
const SWEEP_MS = 250

interface Reading {
  readonly until: number
  readonly expire: () => void
}

const readings = new Set<Reading>()
let sweeper: NodeJS.Timeout | undefined

/** Calls `expire` once `ms` have passed, unless the returned function is called first. */
export function deadline(ms: number, expire: () => void): () => void {
  const reading = { until: performance.now() + ms, expire }
  readings.add(reading)
  sweeper ??= setInterval(sweep, SWEEP_MS).unref()
  return () => readings.delete(reading)
}

function sweep(): void {
  const now = performance.now()
  for (const reading of readings) {
    if (reading.until > now) continue
    readings.delete(reading)
    reading.expire()
  }
  if (readings.size === 0) {
    clearInterval(sweeper)
    sweeper = undefined
  }
}
