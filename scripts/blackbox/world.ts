/** The system under test, seen from outside: its processes, its servers, and the lines between them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import type { Change } from '../../test/model/history.js'
import { changeOf, watchPostgres, watchSqlite } from '../../test/model/watch.js'
import { type Line, startLine } from '../../test/support/line.js'
import { startPostgres, type TestPostgres } from '../../test/support/postgres.js'
import { startProxy, type TestProxy } from '../../test/support/proxy.js'
import { startRedis, type TestRedis } from '../../test/support/redis.js'
import { makeNode, type Node } from './processes.js'

export type StoreKind = 'SQLite' | 'PostgreSQL'

/** A row that a handler has written. `run` is 1, and one more after each replay. */
export interface Effect {
  readonly event: string
  readonly run: number
}

export type Flag = 'hang' | 'serializable'

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
  /** The small disk of the SQLite file, or of the spools beside PostgreSQL. Null where none can be mounted. */
  readonly disk: SmallDisk | null
  /** Turns a behaviour of the handlers on: those of the type `hang` hang, ordered ones raise their isolation level. */
  set(flag: Flag, isOn: boolean): void
  /** The store as the command line names it, past all lines. */
  readonly storeUrl: string
  /** For PostgreSQL: runs statements past all lines. */
  sql(text: string): Promise<unknown[]>
  /** In the order in which they were written. */
  effects(): Promise<Effect[]>
  /** Every change of the log, as triggers have written it down. */
  history(): Promise<Change[]>
  /** Events that are not finished, dead letters included. */
  unfinished(): Promise<number>
  /** Ordered events by lane, in the order in which they were recorded. */
  lanes(): Promise<{ readonly lane: string; readonly event: string }[]>
  end(): Promise<void>
}

export interface SmallDisk {
  readonly path: string
  /** Leaves no free page. */
  fill(): void
  free(): void
  remove(): void
}

/** Minutes by which the clocks of the processes are wrong. */
const CLOCKS = [0, 10, -10, 0, 3, -3]
const DISK = '1g'

export async function buildWorld(kind: StoreKind, intakes: number, workers: number): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-blackbox-'))
  const redis = await startRedis()
  const redisLine = await startLine(redis.url)
  const log = kind === 'SQLite' ? sqliteSide(folder) : await postgresSide(folder)
  const flags = join(folder, 'flags')
  mkdirSync(flags)
  const nodes: Node[] = []
  for (let i = 0; i < intakes + workers; i++) {
    const role = i < intakes ? 'intake' : 'worker'
    // Processes on one SQLite file are on one host and share its clock.
    const clockMs = kind === 'SQLite' ? 0 : CLOCKS[i % CLOCKS.length]! * 60_000
    nodes.push(await makeNode(`${role}${i}`, role, { ...log.told, redis: redisLine.url, clockMs, flags }))
  }
  await Promise.all(nodes.map((node) => node.start()))
  await log.watch()
  async function end(): Promise<void> {
    await Promise.all(nodes.map((node) => node.end()))
    await log.close()
    await redisLine.close()
    await redis.remove()
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    kind,
    folder,
    nodes,
    redis,
    redisLine,
    set: (flag, isOn) =>
      isOn ? writeFileSync(join(flags, flag), '') : rmSync(join(flags, flag), { force: true }),
    ...log,
    end,
  }
}

function sqliteSide(folder: string) {
  const disk = smallDisk(join(folder, 'disk'))
  const path = join(disk?.path ?? folder, 'events.db')
  const outside = new DatabaseSync(path)
  outside.exec(
    'pragma busy_timeout = 20000; create table effects (event text not null, run integer not null, attempt integer not null)',
  )
  const all = (sql: string) => outside.prepare(sql).all() as never[]
  const watched = watchSqlite({ name: 'effects', columns: ['event', 'attempt'] })
  return {
    server: null,
    line: null,
    proxy: null,
    path,
    disk,
    storeUrl: `sqlite:${path}`,
    sql: async (text: string): Promise<unknown[]> => all(text),
    told: { where: ['sqlite', path], insert: 'insert into effects (event, run, attempt) values (?, ?, ?)' },
    effects: async (): Promise<Effect[]> => all('select event, run from effects order by rowid'),
    watch: async () => outside.exec(watched.install),
    history: async () => (all(watched.read) as Record<string, unknown>[]).map(changeOf),
    async unfinished() {
      const [row] = all(
        "select count(*) as n from hookonce_events where processing_state not in ('succeeded', 'ignored')",
      ) as { n: number }[]
      return Number(row!.n)
    },
    lanes: async (): Promise<{ lane: string; event: string }[]> =>
      all(
        `select source || ' ' || related_reference as lane, event_id as event from hookonce_events
         where event_type = 'ordered' order by seq`,
      ),
    async close() {
      outside.close()
      disk?.remove()
    },
  }
}

/** A file system in memory that can be full. Null where mounting is not allowed. */
function smallDisk(path: string): SmallDisk | null {
  mkdirSync(path)
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'ignore' })
  try {
    mount('-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', path)
  } catch {
    return null
  }
  return {
    path,
    fill() {
      const used = execFileSync('df', ['--block-size=1', '--output=used', path], { encoding: 'utf8' })
      // The processes go on writing between the question and the order: a size below what is used is refused.
      for (let bytes = Number(used.split('\n')[1]); ; bytes += 65_536) {
        try {
          mount('-o', `remount,size=${bytes}`, path)
          return
        } catch {}
      }
    },
    free: () => void mount('-o', `remount,size=${DISK}`, path),
    remove: () => void execFileSync('umount', ['-l', path]),
  }
}

async function postgresSide(folder: string) {
  const disk = smallDisk(join(folder, 'disk'))
  const server = await startPostgres()
  const line = await startLine(server.url)
  const proxy = await startProxy(line.url)
  /** A connection for each question: the server is killed and restarted between them. */
  async function ask<Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> {
    // A fault may have raised the level of the whole database; what the driver reads must not fail by it.
    const options = '-c default_transaction_isolation=read\\ committed'
    const client = new pg.Client({ connectionString: server.url, options })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }
  await ask(
    'create table public.effects (n bigserial, event text not null, run int not null, attempt int not null)',
  )
  const watched = watchPostgres('hookonce', { name: 'public.effects', columns: ['event', 'attempt'] })
  return {
    server,
    line,
    proxy,
    path: null,
    disk,
    storeUrl: server.url,
    sql: (text: string): Promise<unknown[]> => ask(text),
    told: {
      where: ['postgres', proxy.url, 'hookonce'],
      insert: 'insert into public.effects (event, run, attempt) values ($1, $2, $3)',
    },
    effects: () => ask<{ event: string; run: number }>('select event, run from public.effects order by n'),
    watch: async () => void (await ask(watched.install)),
    history: async () => (await ask<Record<string, unknown>>(watched.read)).map(changeOf),
    async unfinished() {
      const [row] = await ask<{ n: number }>(
        "select (select count(*) from hookonce.work)::int + (select count(*) from hookonce.events where parked = 'dead')::int as n",
      )
      return row!.n
    },
    lanes: () =>
      ask<{ lane: string; event: string }>(
        `select source || ' ' || related_reference as lane, event_id as event from hookonce.events
         where event_type = 'ordered' order by seq`,
      ),
    async close() {
      await proxy.close()
      await line.close()
      await server.remove()
      disk?.remove()
    },
  }
}
