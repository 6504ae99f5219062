/**
 * The clock of the store, as this process knows it: an answer with the time of the store lies within its round trip, so the
 * shortest round trip of the last minutes tells it best. An answer that contradicts what is known says that the clock was set.
 */
const FORGET_MS = 5 * 60_000
/** Stores round their time. */
const ROUNDED_MS = 5

export class StoreTime {
  #roundTripMs = Number.POSITIVE_INFINITY
  #heardAt = 0
  #aheadMs = 0

  heard(askedAt: number, answeredAt: number, storeNow: number): void {
    const roundTripMs = answeredAt - askedAt
    const isPossible =
      storeNow - this.#aheadMs > askedAt - ROUNDED_MS && storeNow - this.#aheadMs < answeredAt + ROUNDED_MS
    if (isPossible && roundTripMs > this.#roundTripMs && answeredAt - this.#heardAt < FORGET_MS) return
    this.#roundTripMs = roundTripMs
    this.#heardAt = answeredAt
    this.#aheadMs = storeNow - (askedAt + answeredAt) / 2
  }

  /** By the monotonic clock of this process. */
  local(storeAt: number): number {
    return storeAt - this.#aheadMs
  }
}
