/** What the benchmarks promise whatever they measure: turns, failures and figures. */
import { afterAll, describe, expect, test, vi } from 'vitest'
import { aims, reached } from '../../bench/aims.js'
import type { RunOptions } from '../../bench/bench.js'
import { Samples } from '../../bench/report/samples.js'
import { runSuite } from '../../bench/run-suite.js'
import type { Findings, Suite } from '../../bench/suite.js'
import { suites } from '../../bench/suites.js'

const options = {
  short: false,
  full: false,
  minutes: 1,
  otherNode: null,
  redis: null,
  foreignCpu: () => 0,
} as unknown as RunOptions
const nothing: Findings = { tables: [], figures: {} }
const suite = (run: Suite['run']): Suite => ({ name: 'trial', title: 'A trial', minutes: 1, run })
const silenced = (['log', 'error'] as const).map((name) =>
  vi.spyOn(console, name).mockImplementation(() => {}),
)
afterAll(() => {
  for (const one of silenced) one.mockRestore()
})

describe('rounds', () => {
  test('begin with the next side each time, after a warm-up that is not counted', async () => {
    const turns: string[] = []
    let samples = new Samples()
    await runSuite(
      suite(async (bench) => {
        samples = await bench.rounds({
          title: 'turns',
          sides: ['a', 'b', 'c'],
          most: 3,
          async measure(side, round) {
            turns.push(`${round}${side}`)
            return { figure: round }
          },
        })
        return nothing
      }),
      60_000,
      options,
    )
    expect(turns.join(' ')).toBe('-1a -1b -1c 0a 0b 0c 1b 1c 1a 2c 2a 2b')
    expect(samples.values('a', 'figure')).toEqual([0, 1, 2])
  })

  test('end when the time is over, after one round at least', async () => {
    let rounds = 0
    await runSuite(
      suite(async (bench) => {
        await bench.rounds({
          title: 'slow',
          sides: ['a'],
          async measure(_side, round) {
            rounds = round + 1
            return {}
          },
        })
        return nothing
      }),
      0,
      options,
    )
    expect(rounds).toBe(1)
  })

  test('do not count when other programs use the machine, and the notes say so', async () => {
    let seconds = 0
    let busyRounds = 2
    const result = await runSuite(
      suite(async (bench) => {
        const samples = await bench.rounds({
          title: 'noise',
          sides: ['a'],
          most: 3,
          async measure(_side, round) {
            if (round >= 0 && busyRounds-- > 0) seconds += 1_000
            return { figure: round }
          },
        })
        return { ...nothing, figures: { kept: samples.rounds, first: samples.values('a', 'figure')[0]! } }
      }),
      60_000,
      { ...options, foreignCpu: () => seconds * 1e6 },
    )
    expect(result.figures).toEqual({ kept: 3, first: 2 })
    expect(result.notes.join()).toContain('2 thrown away, because other programs used the machine')
  })

  test('go on without a side that fails, and say so', async () => {
    const result = await runSuite(
      suite(async (bench) => {
        const samples = await bench.rounds({
          title: 'two',
          sides: ['good', 'bad'],
          most: 2,
          async measure(side) {
            if (side === 'bad') throw new Error('no answer')
            return { figure: 1 }
          },
        })
        return {
          ...nothing,
          figures: { good: samples.of('good', 'figure'), bad: samples.of('bad', 'figure') },
        }
      }),
      60_000,
      options,
    )
    expect(result.figures).toEqual({ good: 1, bad: Number.NaN })
    expect(result.notes[0]).toBe('two: bad FAILED: no answer')
  })
})

test('a suite that fails is reported as failed, and what it started is ended', async () => {
  let ended = false
  const result = await runSuite(
    suite(async (bench) => {
      bench.after(() => {
        ended = true
      })
      throw new Error('the server did not start')
    }),
    1_000,
    options,
  )
  expect(result).toMatchObject({ failure: 'the server did not start', tables: [] })
  expect(ended).toBe(true)
})

test('a ratio is the median of the ratios of each round', () => {
  const samples = new Samples()
  for (const [ours, theirs] of [
    [10, 10],
    [1, 2],
    [40, 10],
  ]) {
    samples.add('ours', { rate: ours! })
    samples.add('theirs', { rate: theirs! })
  }
  expect(samples.ratio('ours', 'theirs', 'rate')).toBe(1)
})

test('every aim belongs to a suite, and a figure that is missing is not a figure that passes', () => {
  const names = suites.map(({ name }) => name)
  expect(aims.filter((aim) => !names.includes(aim.suite))).toEqual([])
  expect(new Set(reached([]).map(({ result }) => result))).toEqual(new Set(['not measured']))
})
