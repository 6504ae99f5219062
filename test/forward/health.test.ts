/** When a destination is paused, probed and resumed, and who waits how long: pure, with a clock held by hand. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Health, RateLimit } from '#dist/forward/health.js'
import { globMatches, globsMeet } from '#dist/glob.js'
import '../support/fixed-seed.js'

const options = { pauseAfter: { failures: 3, lastingMs: 1_000 }, probeEveryMs: 100, random: () => 0 }

test('many failures at once do not open the circuit, nor are few over a long time; both together are', () => {
  const health = new Health(options)
  for (let i = 0; i < 50; i++) health.failed(0, false)
  expect(health.open).toBeNull()
  health.succeeded()
  health.failed(0, false)
  health.failed(5_000, false)
  expect(health.open).toBeNull()
  health.failed(5_001, false)
  expect(health.open).toEqual({ at: 5_001, nextProbeAt: 5_101 })
})

test('one probe at a time, each later than the one before, up to 15 minutes; nobody waits longer than five', () => {
  const health = new Health(options)
  for (const at of [0, 1_000, 1_000]) health.failed(at, false)
  expect(health.waitMs(1_050)).toBe(100)
  let now = 1_100
  const waits: number[] = []
  for (let i = 0; i < 16; i++) {
    expect(health.waitMs(now)).toBeNull()
    expect(health.begin()).toBe(true)
    expect(health.waitMs(now)).toBe(100)
    health.failed(now, true)
    waits.push(health.open!.nextProbeAt - now)
    expect(health.waitMs(now)).toBe(Math.min(waits.at(-1)!, 300_000))
    now = health.open!.nextProbeAt
  }
  expect(waits.slice(0, 3)).toEqual([200, 400, 800])
  expect(waits.at(-1)).toBe(900_000)
  health.begin()
  health.succeeded()
  expect(health.open).toBeNull()
  expect(health.waitMs(now)).toBeNull()
})

test('an abandoned probe makes room for the next', () => {
  const health = new Health(options)
  for (const at of [0, 1_000, 1_000]) health.failed(at, false)
  health.begin()
  health.abandoned(true)
  expect(health.waitMs(2_000)).toBeNull()
})

test('without pauseAfter the circuit never opens', () => {
  const health = new Health({ ...options, pauseAfter: null })
  for (let i = 0; i < 1_000; i++) health.failed(i * 60_000, false)
  expect(health.open).toBeNull()
})

test('a rate is never exceeded, whoever comes when, and each who waits is given a turn of their own', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 300 }),
      (perSecond, gaps) => {
        const rate = new RateLimit(perSecond)
        const taken: number[] = []
        let now = 1_000
        for (const gap of gaps) {
          now += gap
          const waitMs = rate.take(now)
          if (waitMs === null) taken.push(now)
          else expect(waitMs).toBeGreaterThan(0)
        }
        for (const [i, at] of taken.entries()) {
          const within = taken.filter((other, j) => j >= i && other < at + 1_000).length
          expect(within).toBeLessThanOrEqual(2 * perSecond)
        }
      },
    ),
  )
  const rate = new RateLimit(10)
  const waits = Array.from({ length: 25 }, () => rate.take(0))
  expect(waits.slice(0, 10).every((wait) => wait === null)).toBe(true)
  expect(waits.slice(10, 13)).toEqual([100, 200, 300])
})

test('globs meet where some text matches both', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '.', '*'), { maxLength: 6 }).map((list) => list.join(''))
  const texts = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 8 }).map((list) => list.join(''))
  fc.assert(
    fc.property(letters, letters, texts, (a, b, text) => {
      if (globMatches(a, text) && globMatches(b, text)) expect(globsMeet(a, b)).toBe(true)
      expect(globsMeet(a, b)).toBe(globsMeet(b, a))
    }),
    { numRuns: 2_000 },
  )
  expect(globsMeet('order.*', '*.paid')).toBe(true)
  expect(globsMeet('order.*', 'invoice.*')).toBe(false)
  expect(globsMeet('a*b', 'a*c')).toBe(false)
  expect(globsMeet('', '*')).toBe(true)
  expect(globsMeet('', 'a')).toBe(false)
})
