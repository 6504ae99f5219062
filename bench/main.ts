/**
 * `npm run bench`: all suites in under 40 minutes. `-- <suite> ...` runs some of them.
 *   --time <minutes>   another length of the whole run
 *   --short            the smallest sizes, one round: shows that everything runs, and writes nothing without --out
 *   --full             the largest sizes, however long they take (10^7 rows, a backlog of a million, 10 minutes of load)
 *   --node <version>   the suite `nodes` compares this Node with a version from the npm registry: `newest`, `26`, ...
 *   --sides <a,b>      measures these sides only, in the suites intake and processing, and writes nothing: to try a change
 *   --out <folder>     writes the results there. Default: bench/results, which git ignores
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installExtras } from '../scripts/extras.mjs'
import { startPostgres } from '../test/support/postgres.js'
import { reached } from './aims.js'
import { describeEnvironment, postgresSettings } from './report/environment.js'
import { plainTable } from './report/table.js'
import { aimsHead, aimsRows, environmentText, printSuite, writeResults } from './report/write.js'
import { runSuite } from './run-suite.js'
import type { SuiteResult } from './suite.js'
import { suites } from './suites.js'
import { foreignCpu } from './support/cpu.js'
import { installNode } from './support/other-node.js'
import { startRedis } from './support/redis.js'

const ALL_MINUTES = 40
const allMinutes = suites.reduce((sum, { minutes }) => sum + minutes, 0)
const root = fileURLToPath(new URL('..', import.meta.url))

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    time: { type: 'string' },
    short: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    node: { type: 'string' },
    sides: { type: 'string' },
    out: { type: 'string' },
  },
})
const unknown = positionals.filter((name) => !suites.some((suite) => suite.name === name))
if (unknown.length > 0) {
  console.error(`No suite ${unknown.join(', ')}. The suites: ${suites.map(({ name }) => name).join(' ')}`)
  process.exit(2)
}
const minutes = Number(flags.time ?? ALL_MINUTES)
if (!(minutes > 0)) {
  console.error(`--time ${flags.time}: give a number of minutes above 0.`)
  process.exit(2)
}
const taking = suites.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
process.exitCode = await run()

async function run(): Promise<number> {
  await installExtras('queues')
  const startedAt = performance.now()
  const other = flags.node === undefined ? null : await installNode(flags.node)
  const postgres = await startPostgres({ settings: postgresSettings })
  const redis = await startRedis()
  try {
    const environment = await describeEnvironment(postgres.url, redis !== null, other?.path ?? null)
    console.log(environmentText(environment))
    const options = {
      short: flags.short,
      full: flags.full,
      minutes,
      otherNode: other?.path ?? null,
      sides: flags.sides?.split(',') ?? null,
      postgres,
      redis,
      foreignCpu,
    }
    const results: SuiteResult[] = []
    for (const suite of taking) {
      // Alone, a suite may use the time it has in a run of all suites, or what --time gives.
      const share =
        flags.time !== undefined && positionals.length > 0 ? 1 / taking.length : suite.minutes / allMinutes
      // The rest is for starting servers and for cleaning up.
      const result = await runSuite(suite, 0.8 * share * minutes * 60_000, options)
      results.push(result)
      printSuite(result)
      const done = `${results.length} of ${taking.length} suites, ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes`
      console.log(`\n--- ${done} ---`)
    }
    console.log(`\n## Aims\n\n${plainTable(aimsHead, aimsRows(results))}`)
    write(results, environment)
    const failed = results.filter(({ failure, notes }) => failure !== null || notes.some(isFailure))
    for (const { name, failure } of failed)
      console.log(`Suite ${name} failed: ${failure ?? 'a side, see its notes'}`)
    const missed = reached(results).filter(({ result }) => result === 'fail').length
    console.log(`${missed} aims not reached, ${failed.length} suites failed.`)
    return failed.length > 0 ? 1 : 0
  } finally {
    await redis?.stop()
    await postgres.remove()
    other?.remove()
  }
}

function isFailure(note: string): boolean {
  return note.includes(' FAILED: ')
}

function write(
  results: readonly SuiteResult[],
  environment: Awaited<ReturnType<typeof describeEnvironment>>,
): void {
  if (flags.sides !== undefined || (flags.short && flags.out === undefined)) return
  const folder = flags.out ?? join(root, 'bench/results')
  const startedAt = new Date().toISOString().slice(0, 16).replace(':', '-')
  writeResults(folder, { startedAt, environment, suites: results })
  console.log(`\nWritten: ${folder}/${startedAt}.md`)
}
