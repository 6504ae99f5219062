/**
 * Simulated runs with many seeds. HOOKONCE_SIMULATION_SEEDS is their number (`npm run chaos -- simulation` takes 20,000);
 * HOOKONCE_SIMULATION_SEED runs one seed alone, exactly as it was.
 */
import { expect, test } from 'vitest'
import { type Change, traceOf } from '../model/history.js'
import { together } from '../model/memory-history.js'
import { follow } from '../model/spin.js'
import { LEASE_MS, simulate } from './simulate.js'

const one = process.env.HOOKONCE_SIMULATION_SEED
const count = Number(process.env.HOOKONCE_SIMULATION_SEEDS ?? 600)
/** The tests stop here, whatever the number, so that a slow machine is not kept busy. Not with a number that was given. */
const LIMIT_MS = process.env.HOOKONCE_SIMULATION_SEEDS === undefined ? 6_000 : Number.POSITIVE_INFINITY

/** Seeds that found a fault once. */
const regressions: readonly number[] = []

test('a seed replays exactly, whatever else runs in the process', async () => {
  const alone = []
  for (const seed of [1, 2, 3]) alone.push((await simulate(seed)).trace)
  const stray = setInterval(() => setTimeout(() => Math.random()), 1)
  const beside = []
  for (const seed of [1, 2, 3]) beside.push((await simulate(seed)).trace)
  clearInterval(stray)
  expect(beside).toEqual(alone)
})

test(
  'no seed loses, doubles or blocks an event, and each is a trace of the model',
  async () => {
    const startedAt = Date.now()
    const seeds = one ? [Number(one)] : regressions
    let acknowledged = 0
    let faults = 0
    let runs = 0
    const failures: string[] = []
    let histories: [number, readonly Change[]][] = []
    const check = async () => {
      const forbidden = await follow(traceOf(together(histories), { leaseMs: LEASE_MS }))
      if (forbidden) failures.push(`seeds from ${histories[0]![0]}: ${forbidden}`)
      histories = []
    }
    const run = async (seed: number) => {
      const result = await simulate(seed)
      histories.push([seed, result.history])
      if (histories.length === 100) await check()
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
    if (histories.length > 0) await check()
    console.info(`${runs} seeds, ${acknowledged} events, ${faults} faults, ${failures.length} failures`)
    expect(failures).toEqual([])
  },
  24 * 3_600_000,
)
