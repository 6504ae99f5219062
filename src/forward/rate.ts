/** A token bucket that holds one second's worth. Who gets no token is told when to come back, each at another time. */
export interface Rate {
  /** Null = go ahead; else the wait. */
  take(now: number): number | null
}

/** Beyond this nobody is sent away at once: the limit may be changed, or the process restarted. */
const MOST_WAIT_MS = 60_000

export function createRate(perSecond: number | null): Rate {
  if (perSecond === null) return { take: () => null }
  const most = Math.max(1, perSecond)
  let tokens = most
  let countedAt = Number.NEGATIVE_INFINITY
  let nextTurnAt = 0
  return {
    take(now) {
      tokens = Math.min(most, tokens + Math.max(0, now - countedAt) * (perSecond / 1_000))
      countedAt = now
      if (tokens >= 1) {
        tokens--
        return null
      }
      const firstAt = now + ((1 - tokens) * 1_000) / perSecond
      nextTurnAt = Math.max(firstAt, nextTurnAt + 1_000 / perSecond)
      if (nextTurnAt - now > MOST_WAIT_MS) nextTurnAt = firstAt
      return Math.ceil(nextTurnAt - now)
    },
  }
}
