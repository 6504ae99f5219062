/**
 * The short tier of the black-box run: a few rounds for each store, with fewer processes and one fault after the other.
 * `npm run chaos -- blackbox` has all faults, alone and in pairs.
 */
import { expect, test } from 'vitest'
import { isGood, runRounds } from '../../scripts/blackbox/rounds.js'

const short = { rounds: 2, events: 30, perSecond: 60, seed: 1, intakes: 1, workers: 2 }

test('SQLite: no event is lost, doubled or stuck when workers are killed and sqlite3 backs up the file', async () => {
  const only = ['kill -9 of every worker', 'sqlite3 reads, checkpoints and backs up the file']
  const results = await runRounds({ ...short, kind: 'SQLite', only })
  expect(results.filter((one) => !isGood(one))).toEqual([])
  expect(results.map(({ faults }) => faults)).toEqual(only)
  for (const { acknowledged } of results) expect(acknowledged).toBe(40)
})

test('PostgreSQL: no event is lost, doubled or stuck when the server is killed and answers to COMMIT are cut', async () => {
  const only = ['PostgreSQL killed', 'ten answers to COMMIT cut']
  const results = await runRounds({ ...short, kind: 'PostgreSQL', only })
  expect(results.filter((one) => !isGood(one))).toEqual([])
  expect(results.map(({ faults }) => faults)).toEqual(only)
  for (const { acknowledged } of results) expect(acknowledged).toBe(40)
})
