/** A real PgBouncer in front of the test server, in transaction mode unless told otherwise. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from './free-port.js'
import { serverTmpdir, serverUser } from './postgres-native.mjs'

export interface TestPgBouncer {
  readonly port: number
  /** The same database and user, through the pooler. */
  through(url: string): string
  /** What it has written to its log. */
  readonly said: string
  remove(): Promise<void>
}

export interface TestPgBouncerOptions {
  /** More settings, for example `{ pool_mode: 'session' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Users besides `postgres`, without passwords. */
  readonly users?: readonly string[]
}

/** The pooler's program. Another version can be given. */
const program = process.env.HOOKONCE_TEST_PGBOUNCER ?? 'pgbouncer'

/** A small pool that hands out its connections in turn, so that a session really moves between them. */
const defaults = {
  pool_mode: 'transaction',
  default_pool_size: '3',
  max_client_conn: '500',
  server_round_robin: '1',
}

export async function startPgBouncer(
  serverUrl: string,
  { settings = {}, users = [] }: TestPgBouncerOptions = {},
): Promise<TestPgBouncer> {
  const folder = await mkdtemp(join(serverTmpdir(), 'hookonce-pgbouncer-'))
  const port = await freePort()
  const server = new URL(serverUrl)
  const names = [decodeURIComponent(server.username), ...users]
  const file = join(folder, 'pgbouncer.ini')
  const userList = join(folder, 'users.txt')
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: userList,
    ...defaults,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  await writeFile(
    file,
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  await writeFile(userList, names.map((name) => `"${name}" ""\n`).join(''))
  const user = serverUser()
  if (user) for (const path of [folder, file, userList]) await chown(path, user.uid, user.gid)

  let said = ''
  const child = spawn(program, [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Debian installs it where only root looks for programs.
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    ...user,
  })
  const killAtExit = () => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  await started(child, (text) => {
    said += text
    return said
  })
  return {
    port,
    through(url) {
      const pooled = new URL(url)
      pooled.port = String(port)
      return pooled.href
    },
    get said() {
      return said
    },
    async remove() {
      process.off('exit', killAtExit)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Resolves when it listens. */
function started(child: ChildProcess, heard: (text: string) => string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    let all = ''
    child.once('exit', () => reject(new Error(`pgbouncer did not start:\n${all}`)))
    for (const stream of [child.stdout, child.stderr])
      stream!.on('data', (chunk) => {
        all = heard(String(chunk))
        if (/process up/.test(all)) resolve()
      })
  })
}
