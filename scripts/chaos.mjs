/**
 * npm run chaos: runs the crash tests for minutes instead of seconds, and prints a table of the results.
 *
 *   npm run chaos                 all tests
 *   npm run chaos -- spool nodes  only these
 *   npm run chaos -- cluster      a program of its own, run only when it is named
 *
 * HOOKONCE_CHAOS_SECONDS (60), HOOKONCE_CHAOS_RATE (200 deliveries a second), HOOKONCE_KILL_ROUNDS (50) and
 * HOOKONCE_CHAOS_ROUNDS (5) make it shorter or longer.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const defaults = {
  HOOKONCE_CHAOS_SECONDS: '60',
  HOOKONCE_CHAOS_RATE: '200',
  HOOKONCE_CHAOS_ROUNDS: '5',
  HOOKONCE_KILL_ROUNDS: '50',
}

/** @type {Record<string, { what: string, files: string[], limitMs?: number, env?: Record<string, string> }>} */
const disasters = {
  spool: { what: 'the database away under steady deliveries', files: ['test/spool/outage.test.ts'] },
  drain: { what: 'kill -9 while the spool is drained', files: ['test/spool/processes.test.ts'] },
  nodes: {
    what: 'three nodes, a promoted standby',
    files: ['test/nodes/failover.test.ts'],
    // Each round has four quiet periods of this many seconds, at a rate that three nodes on one machine can handle.
    env: { HOOKONCE_CHAOS_SECONDS: '5', HOOKONCE_CHAOS_RATE: '100' },
  },
  silence: {
    what: 'connections that fall silent while new ones work',
    files: ['test/processing/silent-connection.test.ts'],
  },
  frozen: {
    what: 'a frozen server: deliveries are answered in time',
    files: ['test/intake/frozen-server.test.ts'],
  },
  retention: {
    what: 'kill -9 while retention removes, archives and restores',
    files: ['test/retention/kill.test.ts'],
  },
  capabilities: {
    what: 'every case of the contract on a store with only the capabilities it names',
    files: ['test/stores/capabilities.test.ts'],
  },
  migrate: {
    what: 'several processes that migrate a new log at once',
    files: ['test/stores/migrate.test.ts'],
    env: { HOOKONCE_CHAOS_ROUNDS: '20' },
  },
  reconcile: {
    what: 'ten thousand events, lost and late deliveries, kill -9 while the log is compared with the sender',
    files: ['test/reconcile/schedule.test.ts'],
    limitMs: 20 * 60_000,
    env: { HOOKONCE_RECONCILE_EVENTS: '10000' },
  },
  rhythms: {
    what: 'five years of ten rhythms: silence that is reported, and silence that is not',
    files: ['test/silence/rhythm.test.ts'],
    env: { HOOKONCE_RHYTHM_YEARS: '5' },
  },
  stores: { what: 'kill -9 of recording and handling processes', files: ['test/stores/kill.test.ts'] },
  property: {
    what: 'each store against its model, with a seed of this run',
    files: ['test/property/store-model.test.ts', 'test/property/concurrent.test.ts'],
    env: { HOOKONCE_PROPERTY_SEED: 'random', HOOKONCE_PROPERTY_RUNS: '4000' },
  },
  fuzz: {
    what: 'readers, verifiers, cursors, archives, the admin API and the command line against any input',
    files: ['test/fuzz', 'test/providers/fuzz.test.ts', 'test/json.test.ts'],
    // Many inputs take longer than a test may.
    limitMs: 6 * 3_600_000,
    env: { HOOKONCE_FUZZ_RUNS: '2000000' },
  },
  points: {
    what: 'every point of the store contract x throw, done but error, delay, freeze, kill',
    files: ['test/points/points.test.ts'],
    env: { HOOKONCE_POINTS: 'all' },
  },
  simulation: {
    what: 'intake and processing on a log in memory, in virtual time, by seed',
    files: ['test/simulation/simulation.test.ts'],
    env: { HOOKONCE_SIMULATION_SEEDS: '20000' },
  },
  attempts: {
    what: 'kill -9 and freezing at every step of an attempt',
    files: ['test/processing/crash.test.ts'],
  },
  leases: {
    what: 'kill -9 of a worker with leases on 500 events, and events that kill their worker',
    files: ['test/processing/recovery.test.ts'],
  },
  bench: {
    what: 'every suite of the benchmarks, with its smallest sizes',
    files: ['test/bench/smoke.test.ts'],
    env: { HOOKONCE_BENCH: 'all' },
  },
  lane: {
    what: 'a long lane: its length costs nothing, and no turn is lost',
    files: ['test/stores/long-lane.test.ts'],
    env: { HOOKONCE_LANE_EVENTS: '100000' },
  },
}

/**
 * Programs that need more than the tests do: root and packages of Debian, or gigabytes of disk.
 * @type {Record<string, string>}
 */
const programs = {
  backups: 'scripts/backups/main.ts',
  cluster: 'scripts/cluster/main.ts',
  bloat: 'scripts/growth/day.ts',
  growth: 'scripts/growth/main.ts',
  blackbox: 'scripts/blackbox/main.ts',
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in disasters) && !(name in programs))
if (unknown.length > 0) {
  const known = [...Object.keys(disasters), ...Object.keys(programs)].join(', ')
  console.error(`There is no ${unknown.join(', ')}. Known: ${known}.`)
  process.exit(2)
}

const rows = []
for (const name of wanted) {
  const program = programs[name]
  if (program === undefined) continue
  const start = Date.now()
  // Both get the Ctrl-C of the terminal: this process waits until the program has cleaned up.
  process.on('SIGINT', () => {})
  const child = spawn(process.execPath, ['--import', 'tsx', join(root, program)], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  const seconds = Math.round((Date.now() - start) / 1_000)
  const passed = code === 0 ? 1 : 0
  rows.push({ disaster: name, what: program, seconds, passed, failed: 1 - passed })
}
for (const [name, { what, files, limitMs, env: own = {} }] of Object.entries(disasters)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const start = Date.now()
  const { passed, failed, problems } = run(files, limitMs, { ...defaults, ...own, ...process.env })
  const seconds = Math.round((Date.now() - start) / 1_000)
  console.log(`${failed === 0 && passed > 0 ? 'ok    ' : 'FAILED'} ${name}: ${what} (${seconds} s)`)
  for (const problem of problems) console.log(problem.replace(/^/gm, '         '))
  rows.push({ disaster: name, what, seconds, passed, failed })
}
console.table(rows)
process.exitCode = rows.every(({ passed, failed }) => passed > 0 && failed === 0) ? 0 : 1

/**
 * @param {string[]} files
 * @param {number | undefined} limitMs of a test, where it is not that of the configuration
 * @param {Record<string, string | undefined>} withEnv
 */
function run(files, limitMs, withEnv) {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-chaos-'))
  const report = join(folder, 'report.json')
  try {
    const args = ['run', ...files, '--reporter=json', `--outputFile=${report}`]
    if (limitMs !== undefined) args.push(`--testTimeout=${limitMs}`)
    const vitest = join(root, 'node_modules', '.bin', 'vitest')
    spawnSync(vitest, args, { cwd: root, env: withEnv, stdio: ['ignore', 'inherit', 'inherit'] })
    /** @type {{ numPassedTests: number, numFailedTests: number, testResults: { message: string, assertionResults: { failureMessages: string[] }[] }[] }} */
    const {
      numPassedTests: passed,
      numFailedTests: failed,
      testResults,
    } = JSON.parse(readFileSync(report, 'utf8'))
    const problems = testResults.flatMap(({ message, assertionResults }) => [
      ...(message ? [message] : []),
      ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
    ])
    return { passed, failed, problems }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
