/** Long waits that are a constant of the package, made short: the case still waits for the same timer. */
import { afterEach, beforeEach, vi } from 'vitest'

/**
 * A handler that ignores the end of its time is waited for so long, after the first second. No other timer of the package
 * has this length.
 */
export const OVERTIME_MS = 9_000

/** In each case of this block, timers of exactly `longMs` end after `shortMs`. */
export function shortened(longMs: number, shortMs = 300): void {
  beforeEach(() => {
    const real = globalThis.setTimeout
    const short = (run: () => void, ms?: number, ...rest: []) =>
      real(run, ms === longMs ? shortMs : ms, ...rest)
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(short as typeof setTimeout)
  })
  afterEach(() => void vi.mocked(globalThis.setTimeout).mockRestore())
}
