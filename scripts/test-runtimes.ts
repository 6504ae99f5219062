/**
 * `npm run test:runtimes`: the packed package on Bun and Deno. Each runs `hookonce dev`, and serves an inbox with its own
 * server, on SQLite and on PostgreSQL. It is killed twice while a sender retries: every event that was acknowledged is
 * handled once.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { stripe } from 'hookonce/providers'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres.js'
import { atEnd, longRun } from './long-run.js'
import { npm } from './node-versions.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const EVENTS = 300
const secret = 'whsec_0123456789abcdef'
const source = stripe({ secret })

/** The packages with the programs need no install script. */
const runtimes = {
  bun: { version: '1.4.4', scope: '@oven', program: 'bin/bun', run: ['run'] },
  deno: { version: '2.9.6', scope: '@deno', program: 'deno', run: ['run', '--allow-all'] },
} as const
type Runtime = keyof typeof runtimes

const app = `
import { createInbox } from 'hookonce'
import { fetchHandler } from 'hookonce/fetch'
import { stripe } from 'hookonce/providers'
const inbox = createInbox({
  store: process.env.STORE,
  sources: { stripe: stripe({ secret: '${secret}' }) },
  processing: { lease: '2s', poll: '100ms', retry: { firstDelay: 50, maxDelay: 500 } },
})
const table = 'create table if not exists effects (value text not null)'
inbox.on('stripe', '*', async (event, ctx) => {
  await ctx.once('receipt', async () => 1)
  if (process.env.STORE.startsWith('sqlite')) {
    await ctx.tx.run(table)
    await ctx.tx.run('insert into effects values (?)', [event.id])
  } else await ctx.tx.query('insert into public.effects values ($1)', [event.id])
})
await inbox.start()
const handle = fetchHandler(inbox)
if (globalThis.Bun) console.log('port ' + Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle }).port)
else Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log('port ' + port) }, handle)
`

longRun(async () => {
  const home = await mkdtemp(join(tmpdir(), 'hookonce-runtimes-'))
  atEnd(() => rm(home, { recursive: true, force: true }))
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', home], { cwd: root })
  const tarball = join(home, (await readdir(home)).find((name) => name.endsWith('.tgz'))!)
  const project = join(home, 'app')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  await npm(project, process.env, ['install', tarball, 'pg'])
  await writeFile(join(project, 'app.js'), app)
  const server = await startPostgres()
  atEnd(() => server.remove())

  let passed = true
  for (const name of Object.keys(runtimes) as Runtime[]) {
    try {
      const program = await install(name)
      await startsDev(program, name, project)
      for (const store of [`sqlite:${join(home, `${name}.db`)}`, server.url]) {
        await survivesKills(program, name, project, store)
        console.log(`ok   ${name} ${runtimes[name].version} on ${store.split(':', 1)[0]}`)
      }
    } catch (error) {
      passed = false
      console.log(`FAIL ${name} ${runtimes[name].version}: ${(error as Error).message}`)
    }
  }
  return passed
})

async function install(name: Runtime): Promise<string> {
  const { version, scope, program } = runtimes[name]
  const folder = join(root, 'node_modules/.cache/hookonce-runtimes', `${name}-${version}`)
  if (!existsSync(join(folder, 'node_modules'))) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await npm(folder, process.env, ['install', '--ignore-scripts', `${name}@${version}`])
  }
  const packages = join(folder, 'node_modules', scope)
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const [found] = readdirSync(packages)
    .map((platform) => join(packages, platform, `${program}${suffix}`))
    .filter((path) => existsSync(path))
  assert(found, `npm has installed no program of ${name} for this machine`)
  return found
}

interface Child {
  readonly process: ChildProcess
  readonly output: () => string
  says(pattern: RegExp): Promise<RegExpExecArray>
  kill(): Promise<void>
}

function start(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Child {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  let output = ''
  let heard = () => {}
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
      heard()
    })
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
  }
  atEnd(kill)
  return {
    process: child,
    output: () => output,
    kill,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        heard = () => {
          const match = pattern.exec(output)
          if (match) resolve(match)
        }
        closed.then(() => reject(new Error(`it ended before it said ${pattern}:\n${output}`)))
        setTimeout(() => reject(new Error(`it did not say ${pattern}:\n${output}`)), 30_000).unref()
        heard()
      }),
  }
}

async function startsDev(program: string, name: Runtime, cwd: string): Promise<void> {
  const binary = 'node_modules/hookonce/dist/cli/main.js'
  const child = start(program, [...runtimes[name].run, binary, 'dev', '--port', '0'], cwd)
  await child.says(/hookonce is ready/)
  child.process.kill('SIGTERM')
  await once(child.process, 'close')
  assert.match(child.output(), /stopping: finishing accepted requests/)
}

async function survivesKills(program: string, name: Runtime, cwd: string, store: string): Promise<void> {
  const onPostgres = store.startsWith('postgres')
  if (onPostgres) await query(store, 'create table if not exists public.effects (value text not null)')
  const open = async () => {
    const child = start(program, [...runtimes[name].run, 'app.js'], cwd, { STORE: store })
    const [, port] = await child.says(/port (\d+)/)
    return { child, url: `http://127.0.0.1:${port}/webhooks/stripe` }
  }
  let app = await open()
  const acknowledged: string[] = []
  const sender = async (from: number) => {
    for (let i = from; i < EVENTS; i += 8) {
      const body = JSON.stringify({
        id: `${name}_${i}`,
        type: 'invoice.paid',
        data: { object: { id: 'in_1' } },
      })
      while (!(await delivered(() => app.url, body))) await new Promise((wake) => setTimeout(wake, 50))
      acknowledged.push(`${name}_${i}`)
    }
  }
  const senders = Promise.all(Array.from({ length: 8 }, (_, i) => sender(i)))
  for (const part of [1 / 3, 2 / 3]) {
    while (acknowledged.length < EVENTS * part) await new Promise((wake) => setTimeout(wake, 5))
    await app.child.kill()
    app = await open()
  }
  await senders
  const until = Date.now() + 60_000
  const effects = () => (onPostgres ? effectsOnPostgres(store, name) : effectsOnSqlite(store))
  while ((await effects()).length < EVENTS && Date.now() < until)
    await new Promise((wake) => setTimeout(wake, 100))
  await new Promise((wake) => setTimeout(wake, 3_000)) // longer than the lease: an effect that comes twice comes now
  assert.deepEqual((await effects()).sort(), acknowledged.sort())
  await app.child.kill()
}

async function delivered(url: () => string, body: string): Promise<boolean> {
  const { headers } = await source.sign({ body, now: Date.now() })
  const signal = AbortSignal.timeout(10_000)
  return fetch(url(), { method: 'POST', headers, body, signal }).then(
    ({ status }) => status === 200,
    () => false,
  )
}

function effectsOnSqlite(store: string): string[] {
  const database = new DatabaseSync(store.slice('sqlite:'.length))
  try {
    return database
      .prepare('select value from effects')
      .all()
      .map(({ value }) => String(value))
  } finally {
    database.close()
  }
}

async function effectsOnPostgres(url: string, name: string): Promise<string[]> {
  const rows = await query(url, `select value from public.effects where value like '${name}%'`)
  return rows.map(({ value }) => value)
}

async function query(url: string, sql: string): Promise<{ value: string }[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ value: string }>(sql)).rows
  } finally {
    await client.end()
  }
}
