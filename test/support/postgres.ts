/** A real PostgreSQL server for tests, which they may stop, kill and restart on the same data. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.js'
import { nativeDir, serverTmpdir, serverUser } from './postgres-native.mjs'

export interface TestPostgres {
  /** The database `postgres` as its superuser; the same after a restart. */
  readonly url: string
  readonly port: number
  readonly dataDir: string
  /** Fast shutdown; the data stays. */
  stop(): Promise<void>
  /** Every process of the server, with no chance to write anything more. */
  kill9(): Promise<void>
  /** Every process of the server stands still, and answers nothing until `thaw`. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Starts again on the same data and port; stops first when it runs. */
  restart(): Promise<void>
  /** Stops and removes everything. Happens by itself when this process ends in any way. */
  remove(): Promise<void>
}

export interface TestPostgresOptions {
  /** More settings, for example `{ synchronous_commit: 'off' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Begin as a standby of this server, which must be stopped while its data is copied. */
  readonly standbyOf?: TestPostgres
  /** The folder of another version's programs (`nativeDirOf`). */
  readonly native?: string
}

export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOnFreePort(options)
    } catch (error) {
      // Somebody else may have taken the port between the look and the start.
      if (tries === 3 || !/could not bind|TCP\/IP socket/.test(String(error))) throw error
    }
  }
}

async function startOnFreePort({
  settings = {},
  standbyOf,
  native,
}: TestPostgresOptions): Promise<TestPostgres> {
  const user = serverUser()
  const bin = join(native ?? (await nativeDir()), 'bin')
  const root = await mkdtemp(join(serverTmpdir(), 'hookonce-pg-'))
  if (user) await chown(root, user.uid, user.gid)
  const dataDir = join(root, 'data')
  const port = await freePort()
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: root,
    max_connections: '200',
    shared_buffers: '32MB',
    // Durability is what is tested: these stay as in production.
    fsync: 'on',
    synchronous_commit: 'on',
    ...(standbyOf && {
      primary_conninfo: `host=127.0.0.1 port=${standbyOf.port} user=postgres application_name=standby`,
    }),
    ...settings,
  }
  const order = supervise({
    bin,
    root,
    dataDir,
    copyOf: standbyOf?.dataDir ?? null,
    settings: Object.entries(all).map(([name, value]) => `${name}=${value}`),
    user,
  })
  try {
    await order('init')
    await order('start')
  } catch (error) {
    await order(null)
    throw error
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    dataDir,
    stop: () => order('stop'),
    kill9: () => order('kill9'),
    freeze: () => order('freeze'),
    thaw: () => order('thaw'),
    async restart() {
      await order('stop')
      await order('start')
    },
    remove: () => order(null),
  }
}

/** Starts the supervisor; the function it returns sends one command and waits for the answer. */
function supervise(config: object): (command: string | null) => Promise<void> {
  const script = fileURLToPath(new URL('./postgres-supervisor.mjs', import.meta.url))
  // Its own session: a Ctrl-C in the terminal reaches the test runner only, and the closing stdin does the rest.
  const child = spawn(process.execPath, [script, JSON.stringify(config)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit')
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Promise<void> = Promise.resolve()
  async function send(command: string | null): Promise<void> {
    if (command === null) {
      child.stdin.end()
      await exited
      return
    }
    child.stdin.write(`${command}\n`)
    const answer = await answers.next()
    if (answer.done) throw new Error('The supervisor of the PostgreSQL server has ended.')
    const { ok, error } = JSON.parse(answer.value) as { ok: boolean; error?: string }
    if (!ok) throw new Error(error)
  }
  return (command) => {
    const next = last.then(() => send(command))
    last = next.catch(() => {})
    return next
  }
}
