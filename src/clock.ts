/** Time as a value that is handed in, so that tests can hold it still. Leases never use it: see I9. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** What `work` comes to, or `late()` when it takes longer. What it comes to after that is nobody's. */
export async function timeLimited<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<never>((_, reject) => {
    // A busy event loop runs its timers before it reads its sockets: an answer that is there already gets its turn.
    timer = setTimeout(() => setImmediate(() => reject(late())), limitMs)
  })
  work.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}
