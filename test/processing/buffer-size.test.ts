/** How many events a process claims ahead: it follows the rate of the handlers, within limits. */

import { describe, expect, test } from 'vitest'
import type { ClaimedEvent } from '../../src/model.js'
import { BufferSize } from '../../src/processing/buffer-size.js'

function sized(leaseMs = 30_000) {
  let now = 0
  const size = new BufferSize(leaseMs, () => now)
  return {
    size,
    pass: (ms: number) => {
      now += ms
    },
    /** Finishes events at this rate for so long. */
    run(perSecond: number, ms: number) {
      for (let i = 0; i < (perSecond * ms) / 1_000; i++) {
        now += 1_000 / perSecond
        size.finished()
      }
    },
    claim: (bytes = 500, losses = 0) =>
      size.claimed([{ body: new Uint8Array(bytes), losses } as unknown as ClaimedEvent]),
  }
}

describe('the buffer', () => {
  test('has its least size until the rate is known, and while handlers are slow', () => {
    const { size, run, claim } = sized()
    claim()
    expect(size.now(32)).toBe(32)
    run(10, 2_000)
    expect(size.now(32)).toBe(32)
  })

  test('holds what fast handlers finish in half a second, and not more than 500 events', () => {
    const { size, run, claim } = sized()
    claim()
    run(400, 1_000)
    expect(size.now(32)).toBeGreaterThan(180)
    expect(size.now(32)).toBeLessThan(220)
    run(100_000, 1_000)
    expect(size.now(32)).toBe(500)
  })

  test('holds no more than can start in a small part of the lease', () => {
    const { size, run, claim } = sized(1_000)
    claim()
    run(1_000, 1_000)
    expect(size.now(32)).toBeLessThan(60)
  })

  test('shrinks when handlers stop finishing events', () => {
    const { size, run, claim, pass } = sized()
    claim()
    run(1_000, 1_000)
    expect(size.now(32)).toBeGreaterThan(400)
    pass(5_000)
    expect(size.now(32)).toBe(32)
  })

  test('stays small for large payloads, and for events whose worker has died', () => {
    const { size, run, claim } = sized()
    run(1_000, 1_000)
    claim(1024 * 1024)
    expect(size.now(8)).toBe(16)
    claim(500, 1)
    expect(size.now(32)).toBe(32)
    claim(500)
    expect(size.now(32)).toBeGreaterThan(400)
  })
})
