/**
 * npm run mutants: builds the package in deliberately broken ways, and shows which test notices each of them. One that no
 * test notices is a missing test, and fails the run.
 *
 *   npm run mutants                   all of them
 *   npm run mutants -- fence replay   only those with one of these words in their name
 *   npm run mutants -- --confirm      also runs the test that has failed on the package as it is: it must pass there
 *   npm run mutants -- --trace        runs, for each mutant that breaks a rule of the model, only the check of traces
 *   npm run mutants -- --blackbox     runs the short tier of the black box instead of the tests that each mutant names,
 *                                     to see what it notices. It is not made to notice all of them
 *
 * Each mutant is applied in one temporary copy of the package. Only the changed files are transpiled, and all mutants
 * share one PostgreSQL server, so that a mutant costs seconds.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'
import { mutants } from '../test/mutants/index.mjs'
import { applied, type Change, type Mutant, type NamedTest } from '../test/mutants/mutant.mjs'
import { startPostgres } from '../test/support/postgres.js'
import { nativeDir } from '../test/support/postgres-native.mjs'
import { writeThreadSources } from './thread-sources.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** No test that is named here needs half of this on a busy machine. The black box waits long for events that are stuck. */
const LIMIT_MS = process.argv.includes('--blackbox') ? 900_000 : 300_000
const blackBox: readonly NamedTest[] = ['SQLite: ', 'PostgreSQL: '].map((title) => ({
  file: 'test/blackbox/blackbox.test.ts',
  title,
}))

const confirms = process.argv.includes('--confirm')
const isBlackBox = process.argv.includes('--blackbox')
const traces = process.argv.includes('--trace')
const traceTests: readonly NamedTest[] = ['on SQLite', 'on PostgreSQL'].map((title) => ({
  file: 'test/model/model.test.ts',
  title,
}))
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const wanted = mutants.filter(
  ({ name, breaksModel }) =>
    (words.length === 0 || words.some((w) => name.includes(w))) && (!traces || breaksModel === true),
)
if (wanted.length === 0) {
  console.error(`No mutant has ${words.join(' or ')} in its name.`)
  process.exit(2)
}

const copy = mkdtempSync(join(tmpdir(), 'hookonce-mutants-'))
process.env.HOOKONCE_TEST_POSTGRES_NATIVE ??= await nativeDir()
const server = process.env.HOOKONCE_TEST_POSTGRES_URL ? null : await startPostgres()
const url = server?.url ?? process.env.HOOKONCE_TEST_POSTGRES_URL
let survivors = 0
try {
  // `scripts` is not linked, because its processes must find `dist` of the copy.
  for (const name of [
    'package.json',
    'tsconfig.json',
    'vitest.config.ts',
    'src',
    'test',
    'dist',
    'docs',
    'scripts',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  for (const name of ['node_modules', 'examples']) symlinkSync(join(root, name), join(copy, name))

  for (const mutant of wanted) if (!isCaught(mutant)) survivors++
  console.log(`${wanted.length - survivors} of ${wanted.length} mutants were caught.`)
  if (survivors > 0) process.exitCode = 1
} finally {
  rmSync(copy, { recursive: true, force: true })
  await server?.remove()
}

function isCaught(mutant: Mutant): boolean {
  const startedAt = Date.now()
  let verdict: string
  let caught = false
  try {
    const files = build(mutant)
    let ran: Ran
    try {
      ran = run(isBlackBox ? blackBox : traces ? traceTests : mutant.tests)
    } finally {
      for (const file of files) cpSync(join(root, file), join(copy, file))
    }
    const { failed, broken } = ran
    if (failed.length > 0 && isBlackBox) {
      caught = true
      verdict = failed.map((title, i) => `${title.split(':')[0]}: ${ran.verdicts[i]}`).join('\n         ')
    } else if (failed.length > 0 && !confirms) {
      caught = true
      verdict = `caught by: ${failed[0]}`
    } else if (failed.length > 0) {
      const without = run(mutant.tests.filter(({ title }) => failed[0]!.includes(title)))
      caught = without.passed > 0 && without.failed.length === 0
      verdict = caught ? `caught by: ${failed[0]}` : `this test fails without the mutant too: ${failed[0]}`
    } else if (broken.length > 0) verdict = `its tests did not run: ${broken[0]}`
    else verdict = `SURVIVED: ${mutant.promise}`
  } catch (error) {
    verdict = (error as Error).message
  }
  const seconds = Math.round((Date.now() - startedAt) / 1_000)
  console.log(`${caught ? 'ok    ' : 'FAILED'} ${mutant.name} (${seconds} s)\n         ${verdict}`)
  return caught
}

/** Writes the changed files into `dist` of the copy. Returns their names. */
function build({ name, changes }: Mutant): string[] {
  const texts = new Map<string, string>()
  for (const change of changes as Change[])
    texts.set(change.file, applied(texts.get(change.file) ?? read(change.file), change, name))
  const changed = [...texts].map(([file, text]) => {
    const { code } = transformSync(text, {
      loader: 'ts',
      format: 'esm',
      target: 'es2023',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    })
    const built = file.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js')
    writeFileSync(join(copy, built), code)
    return built
  })
  const threads = writeThreadSources(join(copy, 'dist')).map((file) => join('dist', file))
  return [...changed, ...threads]
}

interface Ran {
  readonly passed: number
  /** The titles of the tests that failed. */
  readonly failed: readonly string[]
  /** Of a failed test of the black box: what it has counted. */
  readonly verdicts: readonly string[]
  /** Files whose tests could not even start. */
  readonly broken: readonly string[]
}

function run(tests: readonly NamedTest[]): Ran {
  const report = join(copy, 'report.json')
  rmSync(report, { force: true })
  const files = [...new Set(tests.map(({ file }) => file))]
  const titles = [...new Set(tests.map(({ title }) => title))].map(escaped).join('|')
  const bail = isBlackBox ? '--bail=0' : '--bail=1'
  const args = ['run', ...files, '-t', titles, bail, '--reporter=json', `--outputFile=${report}`]
  const { stderr } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), args, {
    cwd: copy,
    env: { ...process.env, HOOKONCE_PROVIDER: 'stripe,github', HOOKONCE_TEST_POSTGRES_URL: url },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: LIMIT_MS,
  })
  let text: string
  try {
    text = readFileSync(report, 'utf8')
  } catch {
    return { passed: 0, failed: [], verdicts: [], broken: [stderr.trim().split('\n').slice(-5).join(' ')] }
  }
  const { numPassedTests, testResults } = JSON.parse(text) as {
    numPassedTests: number
    testResults: {
      message: string
      assertionResults: { status: string; fullName: string; failureMessages: string[] }[]
    }[]
  }
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failures = results.filter(({ status }) => status === 'failed')
  return {
    passed: numPassedTests,
    failed: failures.map(({ fullName }) => fullName),
    verdicts: failures.map(({ failureMessages }) =>
      failureMessages
        .join(' ')
        .split(/: expected \[|\n {4}at /)[0]!
        .slice(0, 600),
    ),
    broken: testResults.flatMap(({ message }) => (message ? [message.split('\n')[0]!] : [])),
  }
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
