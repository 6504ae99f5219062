/**
 * Time from the start of the first handler to the last visible effect, when all events are recorded already. Each system
 * runs in a process of its own, 16 events at a time; the systems take turns. The time excludes the start-up of a system
 * and its last outcomes. WAL and CPU time include everything until the system has stopped.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestPostgres } from '../../test/support/postgres.js'
import { type Child, startChild } from '../support/child-process.js'
import { serverCpu } from '../support/cpu.js'
import { startRedis } from '../support/redis.js'
import { median, table } from '../support/table.js'

const systems = [
  { key: 'ours-tx', name: 'hookonce, a transaction per event', atomic: 'yes' },
  { key: 'ours-share', name: 'hookonce, shared transactions of 50', atomic: 'yes' },
  { key: 'ours-group', name: 'hookonce, group transaction of 50', atomic: 'yes' },
  { key: 'ours-plain', name: 'hookonce, no transaction', atomic: 'no' },
  { key: 'pg-boss', name: 'pg-boss, batches of 50', atomic: 'no' },
  { key: 'pg-boss-tx', name: 'pg-boss, transactional batches of 50', atomic: 'yes' },
  { key: 'graphile', name: 'graphile-worker, local queue 500', atomic: 'no' },
  { key: 'bullmq', name: 'BullMQ, Redis fsync always', atomic: 'no' },
  { key: 'by-hand', name: 'hand-written claim loop', atomic: 'yes' },
] as const
type Key = (typeof systems)[number]['key']

interface Measured {
  readonly perSecond: number[]
  readonly wal: number[]
  /** Microseconds of CPU per event: in the process of the system, and in the database server. */
  readonly own: number[]
  readonly server: number[]
}

export async function drainBench(
  { url, dataDir }: TestPostgres,
  rounds: number,
  events: number,
): Promise<void> {
  const wanted = process.env.BENCH_ONLY?.split(',')
  const redis = await startRedis()
  if (!redis) console.log('There is no redis-server on this machine: BullMQ is left out.')
  const taking = systems.filter(({ key }) => (wanted ? wanted.includes(key) : key !== 'bullmq' || redis))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table effects (event_id text not null, amount int not null)')
  const children = new Map<Key, Child>()
  const results = new Map<Key, Measured>(
    taking.map(({ key }) => [key, { perSecond: [], wal: [], own: [], server: [] }]),
  )
  try {
    for (const { key } of taking) {
      const env = { BENCH_POSTGRES: url, BENCH_REDIS_PORT: String(redis?.port ?? 0) }
      children.set(key, await startChild(new URL('./drain-child.ts', import.meta.url), [key], env))
    }
    for (let round = -1; round < rounds; round++) {
      for (const { key } of taking) {
        const count = round < 0 ? Math.min(events, 2_000) : events
        const measured = await drain(client, dataDir, children.get(key)!, count)
        if (round < 0) continue // warm-up
        const sum = results.get(key)!
        for (const name of ['perSecond', 'wal', 'own', 'server'] as const) sum[name].push(measured[name])
      }
    }
    for (const child of children.values()) await child.stop()
  } finally {
    for (const child of children.values()) child.process.kill()
    await client.end()
    await redis?.stop()
  }
  print(taking, results, rounds, events)
}

async function drain(client: pg.Client, dataDir: string, child: Child, count: number) {
  await client.query('truncate effects')
  await child.ask({ do: 'load', count, batch: randomBytes(4).readUInt32BE() })
  await client.query('vacuum analyze')
  const before = await walBytes(client)
  const cpuBefore = serverCpu(dataDir)
  const drained = await child.ask<{ seconds: number; log: number; cpu: number }>({ do: 'drain', count })
  const server = serverCpu(dataDir) - cpuBefore
  const wal = (await walBytes(client)) - before + drained.log
  const { rows } = await client.query<{ rows: string; ids: string }>(
    'select count(*) as rows, count(distinct event_id) as ids from effects',
  )
  if (Number(rows[0]!.rows) !== count || Number(rows[0]!.ids) !== count) {
    throw new Error(
      `${child.process.spawnargs.at(-1)}: ${rows[0]!.rows} effects of ${rows[0]!.ids} events; ${count} were loaded`,
    )
  }
  return {
    perSecond: count / drained.seconds,
    wal: wal / count,
    own: drained.cpu / count,
    server: server / count,
  }
}

async function walBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>("select pg_current_wal_lsn() - '0/0' as bytes")
  return Number(rows[0]!.bytes)
}

function print(
  taking: readonly (typeof systems)[number][],
  results: ReadonlyMap<Key, Measured>,
  rounds: number,
  events: number,
): void {
  const perSecond = (key: Key) => median(results.get(key)?.perSecond ?? [Number.NaN])
  const rows = taking.map(({ key, name, atomic }) => {
    const { perSecond: each, wal, own, server } = results.get(key)!
    return [
      name,
      atomic,
      perSecond(key),
      `${Math.round(Math.min(...each))}-${Math.round(Math.max(...each))}`,
      perSecond('ours-tx') / perSecond(key),
      perSecond('ours-share') / perSecond(key),
      perSecond('ours-group') / perSecond(key),
      perSecond('ours-plain') / perSecond(key),
      median(wal),
      median(own),
      median(server),
    ]
  })
  console.log(
    `\n${events} events, 16 at a time, one effect row each; medians of ${rounds} interleaved rounds` +
      '\natomic: effect and done commit together; x columns: how many times as fast ours is; WAL of BullMQ: with its AOF' +
      '\nWAL and CPU time for an event; server: PostgreSQL, on Linux',
  )
  console.log(
    table(
      [
        'system',
        'atomic',
        'events/s',
        'range',
        'tx is x',
        'share is x',
        'group is x',
        'plain is x',
        'WAL B',
        'own µs',
        'server µs',
      ],
      rows,
    ),
  )
}
