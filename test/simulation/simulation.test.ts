/**
 * Simulated runs with many seeds. HOOKONCE_SIMULATION_SEEDS is their number (`npm run chaos -- simulation` takes 20,000);
 * HOOKONCE_SIMULATION_SEED runs one seed alone, exactly as it was.
 */
import { expect, test } from 'vitest'
import { simulate } from './simulate.js'

const one = process.env.HOOKONCE_SIMULATION_SEED
const count = Number(process.env.HOOKONCE_SIMULATION_SEEDS ?? 600)
/** The tests stop here, whatever the number, so that a slow machine is not kept busy. Not with a number that was given. */
const LIMIT_MS = process.env.HOOKONCE_SIMULATION_SEEDS === undefined ? 6_000 : Number.POSITIVE_INFINITY

/** Seeds that found a fault once. */
const regressions: readonly number[] = []

test('a seed replays exactly', async () => {
  for (const seed of [1, 2, 3]) expect((await simulate(seed)).trace).toBe((await simulate(seed)).trace)
})

test(
  'no seed loses, doubles or blocks an event',
  async () => {
    const startedAt = Date.now()
    const seeds = one ? [Number(one)] : regressions
    let acknowledged = 0
    let faults = 0
    let runs = 0
    const failures: string[] = []
    const run = async (seed: number) => {
      const result = await simulate(seed)
      runs++
      acknowledged += result.acknowledged
      faults += result.faults
      if (result.problems.length > 0)
        failures.push(`HOOKONCE_SIMULATION_SEED=${seed}: ${result.problems.join('; ')}`)
    }
    for (const seed of seeds) await run(seed)
    if (!one)
      for (let seed = 1; seed <= count && failures.length < 5; seed++) {
        if (Date.now() - startedAt > LIMIT_MS) break
        await run(seed)
      }
    console.info(`${runs} seeds, ${acknowledged} events, ${faults} faults, ${failures.length} failures`)
    expect(failures).toEqual([])
  },
  24 * 3_600_000,
)
