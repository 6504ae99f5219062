/**
 * The short tier of the black-box run: one world for each store, with fewer processes and one fault after the other.
 * `npm run chaos -- blackbox` has all faults, alone and in pairs.
 */
import { expect, test, vi } from 'vitest'
import { isGood, type RoundResult, runRounds } from '../../scripts/blackbox/rounds.js'
import type { StoreKind } from '../../scripts/blackbox/world.js'

const short = { events: 30, perSecond: 60, seed: 1, intakes: 1, workers: 2, stuckMs: 60_000 }
// Longer than it takes to find stuck events in all rounds, so that the verdicts are printed.
vi.setConfig({ testTimeout: 800_000 })

const cases: readonly (readonly [StoreKind, string, readonly string[]])[] = [
  [
    'SQLite',
    'no event is lost, doubled or stuck when workers are killed and sqlite3 backs up the file',
    ['kill -9 of every worker', 'sqlite3 reads, checkpoints and backs up the file'],
  ],
  ['SQLite', 'no event is withheld when a handler hangs', ['a handler hangs beside healthy ones']],
  [
    'PostgreSQL',
    'no event is lost, doubled or stuck when the server is killed and answers to COMMIT are cut',
    ['PostgreSQL killed', 'ten answers to COMMIT cut'],
  ],
  [
    'PostgreSQL',
    'no event is withheld by isolation levels or the clock of the server',
    ['an isolation level above read committed', 'the clock of the server an hour back'],
  ],
  [
    'PostgreSQL',
    'no event is withheld by a rolling deploy that adds its handler',
    ['a rolling deploy that adds a handler'],
  ],
  [
    'PostgreSQL',
    'no event is withheld by a spool on a full disk or with a delivery that the store refuses',
    ['the disk of the spool full in an outage', 'a spooled delivery that the store refuses'],
  ],
]

test.each(['SQLite', 'PostgreSQL'] as const)(
  '%s: what happened in all rounds is a trace of the model',
  async (kind) => {
    const { results } = await roundsOn(kind)
    expectAllGood(results.filter(({ faults }) => faults === 'the trace of all rounds'))
  },
)

test.each(cases)('%s: %s', async (kind, _, only) => {
  const { results, leftOut } = await roundsOn(kind)
  const own = results.filter(({ faults }) => only.includes(faults))
  expectAllGood(own)
  const usable = only.filter((fault) => !leftOut.has(fault))
  expect(new Set(own.map(({ faults }) => faults))).toEqual(new Set(usable))
  for (const { acknowledged } of own) expect(acknowledged).toBe(40)
})

interface Rounds {
  readonly results: readonly RoundResult[]
  /** Faults that this machine does not allow. */
  readonly leftOut: ReadonlySet<string>
}

const known = new Map<StoreKind, Promise<Rounds>>()

/** The cases of a store share its rounds, one for each fault: to build the world takes longer than a round. */
function roundsOn(kind: StoreKind): Promise<Rounds> {
  let rounds = known.get(kind)
  if (rounds === undefined) {
    rounds = run(kind)
    known.set(kind, rounds)
  }
  return rounds
}

async function run(kind: StoreKind): Promise<Rounds> {
  const only = cases.flatMap(([on, , faults]) => (on === kind ? faults : []))
  const leftOut = new Set<string>()
  const onLeftOut = (fault: string, why: string) => {
    leftOut.add(fault)
    console.log(`left out: ${fault}: ${why}`)
  }
  return { results: await runRounds({ ...short, rounds: only.length, kind, only, onLeftOut }), leftOut }
}

function expectAllGood(results: readonly RoundResult[]): void {
  const bad = results.filter((one) => !isGood(one))
  const verdicts = bad.map(({ faults, lost, doubled, unexpected, stuck, unordered, problems }) => {
    const counts = Object.entries({ lost, doubled, unexpected, stuck, unordered }).filter(([, n]) => n > 0)
    return `${faults}: ${[...counts.map(([name, n]) => `${n} ${name}`), ...problems].join(', ')}`
  })
  expect(bad, verdicts.join('; ')).toEqual([])
}
