/** Time as a value that is handed in, so that tests can hold it still. Leases never use it: see I9. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }
