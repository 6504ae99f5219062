/**
 * `npm run test:versions [major ...]`: the store contract, the migrations and the processing tests on each supported
 * version of PostgreSQL. The servers are npm packages, installed on first use. Cases on SQLite are left out. The last
 * lines are the totals of each version.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nativeDirOf, serverUser } from '../test/support/postgres-native.mjs'

const versions = [14, 15, 16, 17, 18]
const files = [
  // The store contract and the tests beside it.
  'test/stores/postgres.test.ts',
  'test/stores/postgres-reads.test.ts',
  'test/stores/partitions.test.ts',
  'test/stores/inspect.test.ts',
  'test/stores/tail.test.ts',
  'test/stores/ping.test.ts',
  'test/stores/kill.test.ts',
  'test/stores/ambiguous-commit.test.ts',
  'test/stores/administrator.test.ts',
  'test/stores/least-privilege.test.ts',
  'test/stores/pooler.test.ts',
  'test/stores/record-growth.test.ts',
  'test/stores/list-growth.test.ts',
  'test/stores/stats-growth.test.ts',
  'test/stores/plans.test.ts',
  'test/stores/one-statement.test.ts',
  // Migrations.
  'test/stores/migrate.test.ts',
  'test/stores/migrate-under-load.test.ts',
  // Processing, with transactions, leases and processes that are killed.
  'test/processing/',
]

const asked = process.argv.slice(2).map(Number)
const reports = mkdtempSync(join(tmpdir(), 'hookonce-versions-'))
/** @type {{ server: string, passed: number, failed: string[], seconds: number }[]} */
const results = []
try {
  for (const major of asked.length > 0 ? asked : versions) results.push(await run(major))
} finally {
  rmSync(reports, { recursive: true, force: true })
}
for (const { server, passed, failed, seconds } of results) {
  console.log(`${server}: ${passed} passed, ${failed.length} failed, ${seconds} s`)
  for (const name of failed) console.log(`  failed: ${name}`)
}
if (results.some(({ passed, failed }) => failed.length > 0 || passed === 0)) process.exitCode = 1

/** @param {number} major */
async function run(major) {
  const native = await nativeDirOf(major)
  const version = execFileSync(join(native, 'bin', 'postgres'), ['--version'], {
    ...serverUser(),
    encoding: 'utf8',
  })
  const server = `PostgreSQL ${version.trim().split(' ').at(-1)}`
  console.log(`\n== ${server}`)
  const started = Date.now()
  const report = join(reports, `${major}.json`)
  const args = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`, '-t', '^(?!.*SQLite)']
  const { status } = spawnSync('npx', ['vitest', 'run', ...files, ...args], {
    stdio: 'inherit',
    env: { ...process.env, HOOKONCE_TEST_POSTGRES_NATIVE: native },
  })
  const { passed, failed } = totals(report)
  // Vitest also fails without a failed test, for example by an error that no test has caught.
  if (status !== 0 && failed.length === 0) failed.push(`vitest ended with ${status}`)
  return { server, passed, failed, seconds: Math.round((Date.now() - started) / 1000) }
}

/** @param {string} path */
function totals(path) {
  /** @type {{ testResults: { name: string, status: string, assertionResults: { status: string, fullName: string }[] }[] }} */
  const { testResults } = JSON.parse(readFileSync(path, 'utf8'))
  /** @type {string[]} */
  const failed = []
  let passed = 0
  for (const { name, status, assertionResults } of testResults) {
    const broken = assertionResults.filter((test) => test.status === 'failed')
    passed += assertionResults.filter((test) => test.status === 'passed').length
    for (const { fullName } of broken) failed.push(`${name}: ${fullName}`)
    // A file that could not be loaded has no failed test.
    if (status === 'failed' && broken.length === 0) failed.push(name)
  }
  return { passed, failed }
}
