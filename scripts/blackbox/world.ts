/** The system under test, seen from outside: its processes, its servers, and the lines between them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { freePort } from '../../test/support/free-port.js'
import { type Line, startLine } from '../../test/support/line.js'
import { startPostgres, type TestPostgres } from '../../test/support/postgres.js'
import { startProxy, type TestProxy } from '../../test/support/proxy.js'
import { startRedis, type TestRedis } from '../../test/support/redis.js'

export type StoreKind = 'SQLite' | 'PostgreSQL'

export interface Node {
  readonly name: string
  readonly role: 'intake' | 'worker'
  readonly url: string
  /** Null between a kill and the next start. */
  child: ChildProcess | null
  start(changes?: { concurrency: number }): Promise<void>
}

export interface World {
  readonly kind: StoreKind
  readonly folder: string
  readonly nodes: readonly Node[]
  readonly redis: TestRedis
  readonly redisLine: Line
  /** For PostgreSQL: the server, the line to it, and a proxy that cuts single answers. */
  readonly server: TestPostgres | null
  readonly line: Line | null
  readonly proxy: TestProxy | null
  /** For SQLite: the file. */
  readonly path: string | null
  /** The rows that handlers have written: how often each id. */
  effects(): Promise<Map<string, number>>
  /** Events that are not finished. */
  unfinished(): Promise<number>
  end(): Promise<void>
}

const script = fileURLToPath(new URL('./node.mjs', import.meta.url))

export async function buildWorld(kind: StoreKind, intakes: number, workers: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-blackbox-'))
  const redis = await startRedis()
  const redisLine = await startLine(redis.url)
  const log = kind === 'SQLite' ? sqliteSide(folder) : await postgresSide()
  const nodes: Node[] = []
  for (let i = 0; i < intakes + workers; i++) {
    const role = i < intakes ? 'intake' : 'worker'
    // SQLite leases are judged by the clock of the host, which all processes share.
    const clockMs = kind === 'SQLite' || role === 'intake' ? 0 : [0, 600_000, -600_000, 0][i % 4]!
    nodes.push(
      makeNode(`${role}${i}`, role, await freePort(), { ...log.told, redis: redisLine.url, clockMs }),
    )
  }
  await Promise.all(nodes.map((node) => node.start()))
  return {
    kind,
    folder,
    nodes,
    redis,
    redisLine,
    ...log,
    async end() {
      for (const { child } of nodes) child?.kill('SIGKILL')
      await log.close()
      await redisLine.close()
      await redis.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function makeNode(name: string, role: Node['role'], port: number, told: object): Node {
  const node: Node = {
    name,
    role,
    url: `http://127.0.0.1:${port}`,
    child: null,
    async start(changes = { concurrency: 4 }) {
      const given = JSON.stringify({ ...told, ...changes, role, port })
      const child = spawn(process.execPath, [script, given], { stdio: ['ignore', 'pipe', 'inherit'] })
      node.child = child
      const lines = createInterface({ input: child.stdout! })
      await Promise.race([once(lines, 'line'), once(child, 'exit')])
    },
  }
  return node
}

function sqliteSide(folder: string) {
  const path = join(folder, 'events.db')
  const outside = new DatabaseSync(path)
  outside.exec('pragma busy_timeout = 20000; create table effects (event text not null)')
  return {
    server: null,
    line: null,
    proxy: null,
    path,
    told: { where: ['sqlite', path], insert: 'insert into effects (event) values (?)' },
    async effects() {
      return counted(outside.prepare('select event from effects').all() as { event: string }[])
    },
    async unfinished() {
      const sql =
        "select count(*) as n from hookonce_events where processing_state not in ('succeeded', 'ignored')"
      return Number((outside.prepare(sql).get() as { n: number }).n)
    },
    async close() {
      outside.close()
    },
  }
}

async function postgresSide() {
  const server = await startPostgres()
  const line = await startLine(server.url)
  const proxy = await startProxy(line.url)
  /** A connection for each question: the server is killed and restarted between them. */
  async function ask<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }
  await ask('create table public.effects (event text not null)')
  return {
    server,
    line,
    proxy,
    path: null,
    told: {
      where: ['postgres', proxy.url, 'hookonce'],
      insert: 'insert into public.effects (event) values ($1)',
    },
    effects: async () => counted(await ask<{ event: string }>('select event from public.effects')),
    async unfinished() {
      const [row] = await ask<{ n: number }>('select count(*)::int as n from hookonce.work')
      return row!.n
    },
    async close() {
      await proxy.close()
      await line.close()
      await server.remove()
    },
  }
}

function counted(rows: readonly { event: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { event } of rows) counts.set(event, (counts.get(event) ?? 0) + 1)
  return counts
}
