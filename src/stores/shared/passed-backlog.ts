/**
 * A claim that leaves types out reads all due rows of these types. The next claims with the same types start behind them,
 * for a second at most. The last rows are read again each time: a row may be committed later than its due time says.
 */
const REMEMBERED_MS = 1_000
const READ_AGAIN_MS = 2_000

interface Passed {
  readonly left: string
  /** By the clock of the store. */
  readonly at: number
  /** By the monotonic clock of this process. */
  readonly until: number
}

export class PassedBacklog {
  readonly #bySource = new Map<string, Passed>()

  /** Rows of the source that are due earlier than this need not be read. `left`: the types that are left out. */
  before(source: string, left: string | null): number {
    const passed = this.#bySource.get(source)
    return passed && passed.left === left && passed.until > performance.now() ? passed.at : 0
  }

  /** All rows of the source that are due `now` were claimed or left out. */
  note(source: string, left: string | null, now: number): void {
    if (left === null || this.before(source, left) > 0) return
    this.#bySource.set(source, {
      left,
      at: Math.max(0, now - READ_AGAIN_MS),
      until: performance.now() + REMEMBERED_MS,
    })
  }
}
