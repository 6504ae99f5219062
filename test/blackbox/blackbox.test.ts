/**
 * The short tier of the black-box run: a few rounds for each store, with fewer processes and one fault after the other.
 * `npm run chaos -- blackbox` has all faults, alone and in pairs.
 */
import { expect, test, vi } from 'vitest'
import { isGood, type RoundResult, runRounds } from '../../scripts/blackbox/rounds.js'
import type { StoreKind } from '../../scripts/blackbox/world.js'

const short = { events: 30, perSecond: 60, seed: 1, intakes: 1, workers: 2, stuckMs: 60_000 }
// Longer than it takes to find stuck events in all rounds, so that the verdicts are printed.
vi.setConfig({ testTimeout: 800_000 })

test('SQLite: no event is lost, doubled or stuck when workers are killed and sqlite3 backs up the file', () =>
  survives('SQLite', ['kill -9 of every worker', 'sqlite3 reads, checkpoints and backs up the file']))

test('SQLite: no event is withheld when a handler hangs', () =>
  survives('SQLite', ['a handler hangs beside healthy ones']))

test('PostgreSQL: no event is lost, doubled or stuck when the server is killed and answers to COMMIT are cut', () =>
  survives('PostgreSQL', ['PostgreSQL killed', 'ten answers to COMMIT cut']))

test('PostgreSQL: no event is withheld by isolation levels or the clock of the server', () =>
  survives('PostgreSQL', ['an isolation level above read committed', 'the clock of the server an hour back']))

test('PostgreSQL: no event is withheld by a rolling deploy that adds its handler', () =>
  survives('PostgreSQL', ['a rolling deploy that adds a handler']))

test('PostgreSQL: no event is withheld by a spool on a full disk or with a delivery that the store refuses', () =>
  survives('PostgreSQL', [
    'the disk of the spool full in an outage',
    'a spooled delivery that the store refuses',
  ]))

/** One round for each fault. A fault that this machine does not allow is named and left out. */
async function survives(kind: StoreKind, only: readonly string[]): Promise<void> {
  const leftOut: string[] = []
  const onLeftOut = (fault: string, why: string) => {
    leftOut.push(fault)
    console.log(`left out: ${fault}: ${why}`)
  }
  const results = await runRounds({ ...short, rounds: only.length, kind, only, onLeftOut })
  expectAllGood(results)
  const usable = only.filter((fault) => !leftOut.includes(fault))
  expect(new Set(results.map(({ faults }) => faults))).toEqual(new Set(usable))
  for (const { acknowledged } of results) expect(acknowledged).toBe(40)
}

function expectAllGood(results: readonly RoundResult[]): void {
  const bad = results.filter((one) => !isGood(one))
  const verdicts = bad.map(({ faults, lost, doubled, unexpected, stuck, unordered, problems }) => {
    const counts = Object.entries({ lost, doubled, unexpected, stuck, unordered }).filter(([, n]) => n > 0)
    return `${faults}: ${[...counts.map(([name, n]) => `${n} ${name}`), ...problems].join(', ')}`
  })
  expect(bad, verdicts.join('; ')).toEqual([])
}
