/** How often a measure fell under each of some fixed bounds. Numbers only: observing one allocates nothing. */
export interface Histogram {
  readonly bounds: readonly number[]
  /** One more than the bounds: the last is what fell under none of them. Not cumulative. */
  readonly counts: readonly number[]
  readonly sum: number
  readonly count: number
  observe(value: number): void
}

/** Seconds: from a commit on a fast disk to a sender that has given up. */
export const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]
/** Deliveries in one commit. */
export const sizeBounds: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256]

export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0)
  const histogram = {
    bounds,
    counts,
    sum: 0,
    count: 0,
    observe(value: number) {
      let i = 0
      while (i < bounds.length && value > bounds[i]!) i++
      counts[i]!++
      histogram.sum += value
      histogram.count++
    },
  }
  return histogram
}
