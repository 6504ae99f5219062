/**
 * The short tier of the black-box run: a few rounds for each store, with fewer processes and one fault after the other.
 * `npm run chaos -- blackbox` has all faults, alone and in pairs.
 */
import { expect, test, vi } from 'vitest'
import { isGood, type RoundResult, runRounds } from '../../scripts/blackbox/rounds.js'

const short = { rounds: 2, events: 30, perSecond: 60, seed: 1, intakes: 1, workers: 2, stuckMs: 60_000 }
// Longer than it takes to find stuck events in both rounds, so that the verdicts are printed.
vi.setConfig({ testTimeout: 400_000 })

test('SQLite: no event is lost, doubled or stuck when workers are killed and sqlite3 backs up the file', async () => {
  const only = ['kill -9 of every worker', 'sqlite3 reads, checkpoints and backs up the file']
  const results = await runRounds({ ...short, kind: 'SQLite', only })
  expectAllGood(results)
  expect(results.map(({ faults }) => faults)).toEqual(only)
  for (const { acknowledged } of results) expect(acknowledged).toBe(40)
})

test('PostgreSQL: no event is lost, doubled or stuck when the server is killed and answers to COMMIT are cut', async () => {
  const only = ['PostgreSQL killed', 'ten answers to COMMIT cut']
  const results = await runRounds({ ...short, kind: 'PostgreSQL', only })
  expectAllGood(results)
  expect(results.map(({ faults }) => faults)).toEqual(only)
  for (const { acknowledged } of results) expect(acknowledged).toBe(40)
})

function expectAllGood(results: readonly RoundResult[]): void {
  const bad = results.filter((one) => !isGood(one))
  const verdicts = bad.map(({ faults, lost, doubled, unexpected, stuck, unordered, problems }) => {
    const counts = Object.entries({ lost, doubled, unexpected, stuck, unordered }).filter(([, n]) => n > 0)
    return `${faults}: ${[...counts.map(([name, n]) => `${n} ${name}`), ...problems].join(', ')}`
  })
  expect(bad, verdicts.join('; ')).toEqual([])
}
