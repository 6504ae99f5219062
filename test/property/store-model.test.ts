/**
 * Each store against a model of it, command by command. HOOKONCE_PROPERTY_RUNS is the total over both stores;
 * HOOKONCE_PROPERTY_SEED (and _PATH) replay a failure.
 */
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { postgresHarness } from '../support/postgres-harness.js'
import { type OwnHarness, sqliteHarness } from '../support/sqlite-harness.js'
import { type Command, commands } from './commands.js'
import { examples } from './examples.js'
import { type Log, openLog, Run, TooSlow } from './run.js'
import { seed } from './seed.js'

const numRuns = Math.ceil(Number(process.env.HOOKONCE_PROPERTY_RUNS ?? 40) / 2)
const path = process.env.HOOKONCE_PROPERTY_PATH
/** A failure is made smaller for so long; its seed is printed at once. */
const SHRINK_MS = 60_000
/** So many runs share a log, each with sources of its own. */
const RUNS_PER_LOG = 25

async function check<Tx>(name: string, open: () => Promise<OwnHarness<Tx>>): Promise<void> {
  let log: (Log<Tx> & { readonly end: () => Promise<void> }) | undefined
  let runs = 0
  let failedAt = Number.POSITIVE_INFINITY
  async function fresh() {
    await log?.end()
    log = undefined
    const harness = await open()
    log = { ...(await openLog(harness)), end: () => harness.end() }
    return log
  }
  try {
    await fc.assert(
      fc.asyncProperty(commands, async (list) => {
        if (Date.now() - failedAt > SHRINK_MS) return
        const on = log === undefined || runs % RUNS_PER_LOG === 0 ? await fresh() : log
        try {
          await new Run(on, `run${++runs}`).all(list)
        } catch (error) {
          // What a failed run left behind would disturb the next one.
          await log?.end()
          log = undefined
          fc.pre(!(error instanceof TooSlow))
          if (failedAt === Number.POSITIVE_INFINITY) {
            failedAt = Date.now()
            console.error(
              `${name}: failed with HOOKONCE_PROPERTY_SEED=${seed} in run ${runs}: ${String(error)}`,
            )
          }
          throw error
        }
      }),
      {
        numRuns,
        seed,
        ...(path !== undefined && { path }),
      },
    )
  } finally {
    await log?.end()
  }
}

async function checkExample<Tx>(
  list: readonly Command[],
  open: () => Promise<OwnHarness<Tx>>,
): Promise<void> {
  const harness = await open()
  try {
    await new Run(await openLog(harness), 'example').all(list)
  } finally {
    await harness.end()
  }
}

describe.concurrent('a store does what the model of it does', { timeout: 900_000 }, () => {
  for (const { name, commands } of examples) {
    test(`SQLite: ${name}`, () => checkExample(commands, sqliteHarness))
    test(`PostgreSQL: ${name}`, () => checkExample(commands, postgresHarness))
  }
  test('SQLite: any list of commands', () => check('SQLite', sqliteHarness))
  test('PostgreSQL: any list of commands', () => check('PostgreSQL', postgresHarness))
})
