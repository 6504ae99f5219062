/**
 * Owns one PostgreSQL server for the tests: obeys lines on stdin, answers a JSON line each on stdout. When stdin
 * closes, however the test runner died, it stops the server, removes its directory and exits: nothing is left.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** @type {{ bin: string, root: string, dataDir: string, copyOf: string | null, settings: string[], user?: { uid: number, gid: number } }} */
const config = JSON.parse(process.argv[2] ?? '')
/** @type {import('node:child_process').ChildProcess | null} */
let server = null
/** @type {string[]} */
let log = []

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

const commands = {
  async init() {
    if (config.copyOf !== null) return copy(config.copyOf)
    const options = ['-D', config.dataDir, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
    const initdb = run('initdb', options)
    const code = await new Promise((resolve) => initdb.once('close', resolve))
    if (code !== 0) throw new Error(`initdb failed:\n${log.join('')}`)
  },

  /** Resolves when the server accepts connections, recovery included. */
  async start() {
    for (let tries = 0; ; tries++) {
      const problem = await launch()
      if (!problem) return
      // After a kill -9 the last backends take a moment to notice and let go of the shared memory.
      if (!/shared memory|lock file/.test(problem) || tries === 50) throw new Error(problem)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  },

  /** Fast shutdown: open transactions are rolled back. */
  async stop() {
    await end('SIGINT', 60_000)
  },

  /** The server and every one of its processes, with no chance to say goodbye. */
  async kill9() {
    const pids = server?.pid ? [server.pid, ...children(server.pid)] : []
    const gone = end('SIGKILL', 10_000)
    for (const pid of pids.slice(1)) kill(pid)
    await gone
  },

  /** Every process stands still: connections are accepted by the kernel, and nobody answers. */
  async freeze() {
    for (const pid of everyProcess()) kill(pid, 'SIGSTOP')
  },

  async thaw() {
    for (const pid of everyProcess()) kill(pid, 'SIGCONT')
  },
}

function everyProcess() {
  return server?.pid ? [server.pid, ...children(server.pid)] : []
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = /** @type {keyof typeof commands} */ (line.trim())
  try {
    await commands[command]()
    console.log(JSON.stringify({ ok: true }))
  } catch (error) {
    console.log(JSON.stringify({ ok: false, error: error instanceof Error ? error.message : String(error) }))
  }
}
await commands.thaw()
await end('SIGINT', 5_000)
await rm(config.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
process.exit(0)

/**
 * A standby begins as a copy of its primary, which must be stopped meanwhile: the binaries from npm have no program for
 * a copy of a server that runs.
 * @param {string} from
 */
async function copy(from) {
  const cp = spawn('cp', ['-a', from, config.dataDir], { stdio: 'ignore', ...config.user })
  const code = await new Promise((resolve) => cp.once('close', resolve))
  if (code !== 0) throw new Error(`${from} could not be copied.`)
  await writeFile(join(config.dataDir, 'standby.signal'), '')
}

/** @returns {Promise<string | null>} the log when it did not start */
function launch() {
  const child = run('postgres', ['-D', config.dataDir, ...config.settings.flatMap((s) => ['-c', s])])
  server = child
  child.once('close', () => {
    if (server === child) server = null
  })
  return new Promise((resolve) => {
    child.once('close', () => resolve(`postgres did not start:\n${log.join('')}`))
    child.stderr?.on('data', (chunk) => {
      if (/database system is ready to accept (read-only )?connections/.test(String(chunk))) resolve(null)
    })
  })
}

/**
 * @param {string} program
 * @param {string[]} options
 */
function run(program, options) {
  log = []
  const child = spawn(join(config.bin, program), options, {
    cwd: config.root,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC', HOME: config.root },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...config.user,
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      log.push(String(chunk))
      if (log.length > 100) log.shift()
    })
  }
  child.once('error', (error) => log.push(String(error)))
  return child
}

/**
 * @param {NodeJS.Signals} signal
 * @param {number} patienceMs
 */
async function end(signal, patienceMs) {
  const child = server
  if (!child?.pid) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  const timer = setTimeout(() => {
    for (const pid of [child.pid ?? 0, ...children(child.pid ?? 0)]) kill(pid)
  }, patienceMs)
  child.kill(signal)
  await closed
  clearTimeout(timer)
}

/**
 * Each backend is a session of its own, so a process group does not reach them. Without /proc they still
 * exit by themselves when they notice that the postmaster is gone.
 * @param {number} pid
 */
function children(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function kill(pid, signal = 'SIGKILL') {
  try {
    if (pid > 0) process.kill(pid, signal)
  } catch {
    // Gone already.
  }
}
