/**
 * Recorded events are processed 16 at a time, one effect row each: the time from the start of the first handler to the
 * last visible effect. Each system runs in a process of its own; the systems take turns. The time excludes the start-up
 * of a system and its last outcomes. WAL and CPU time include everything until the system has stopped.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Bench } from '../bench.js'
import type { Sample, Samples } from '../report/samples.js'
import type { Findings, Suite } from '../suite.js'
import type { Child } from '../support/child-process.js'
import { serverCpu } from '../support/cpu.js'

interface Entry {
  readonly name: string
  /** Effect and outcome commit together. */
  readonly atomic: boolean
}

const systems: Readonly<Record<string, Entry>> = {
  'ours-tx': { name: 'hookonce, a transaction per event', atomic: true },
  'ours-share': { name: 'hookonce, shared transactions (`share: 50`)', atomic: true },
  'ours-group': { name: 'hookonce, groups of 50 (`onBatch`)', atomic: true },
  'ours-plain': { name: 'hookonce, no transaction', atomic: false },
  'ours-ordered-10': { name: 'hookonce, ordered over 10 references', atomic: true },
  'ours-ordered-10000': { name: 'hookonce, ordered over 10,000 references', atomic: true },
  'pg-boss': { name: 'pg-boss, batches of 50', atomic: false },
  'pg-boss-tx': { name: 'pg-boss, transactional batches of 50', atomic: true },
  'pg-boss-one': { name: 'pg-boss, a transaction per event', atomic: true },
  graphile: { name: 'graphile-worker, local queue of 500', atomic: false },
  bullmq: { name: 'BullMQ, Redis with appendfsync always', atomic: false },
  'by-hand': { name: 'hand-written claim loop', atomic: true },
}

/**
 * A worker runs for days, so a drain is long enough for a steady state: buffers are full and the code is compiled. Each
 * system gets as many events as it handles in this time, at the rate of its last round.
 */
const DRAIN_SECONDS = 3
const WARM_UP_EVENTS = 12_000
const MAX_EVENTS = 60_000

export const processing: Suite = {
  name: 'processing',
  title: 'Processing of recorded events',
  minutes: 6,
  async run(bench) {
    const perSecond = new Map<string, number>()
    const count = (key: string) => {
      if (bench.short) return 30
      const expected = (perSecond.get(key) ?? 0) * DRAIN_SECONDS
      return Math.round(Math.max(WARM_UP_EVENTS / 2, Math.min(MAX_EVENTS, expected)))
    }
    const url = await bench.database()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    bench.after(() => client.end())
    await client.query('create table effects (event_id text not null, amount int not null)')
    if (!bench.redis) bench.note('No redis-server on this machine: BullMQ is left out.')
    const wanted = bench.measured(Object.keys(systems)).filter((key) => key !== 'bullmq' || bench.redis)
    const children = new Map(
      await Promise.all(
        wanted.map(async (key) => {
          const env = { BENCH_POSTGRES: url, BENCH_REDIS_PORT: String(bench.redis?.port ?? 0) }
          const module = new URL('../systems/drain-child.ts', import.meta.url)
          return [key, await bench.child(module, [key], env)] as const
        }),
      ),
    )
    const samples = await bench.rounds({
      title: bench.short ? 'a few events' : `drains of about ${DRAIN_SECONDS} seconds`,
      sides: wanted,
      most: 7,
      // Two: a system has to start again after it was stopped.
      inShort: 2,
      async measure(key, round) {
        const sample = await drain(bench, client, children.get(key)!, round < 0 ? WARM_UP_EVENTS : count(key))
        perSecond.set(key, sample.perSecond!)
        return sample
      },
    })
    for (const child of children.values()) await child.stop()
    return findings(wanted, samples)
  },
}

async function drain(bench: Bench, client: pg.Client, child: Child, count: number): Promise<Sample> {
  await client.query('truncate effects')
  await child.ask({ do: 'load', count, batch: randomBytes(4).readUInt32BE() })
  if (!bench.short) await client.query('vacuum analyze')
  const before = await walBytes(client)
  const cpuBefore = serverCpu(bench.postgres.dataDir)
  const drained = await child.ask<{ seconds: number; log: number; cpu: number }>({ do: 'drain', count })
  const server = serverCpu(bench.postgres.dataDir) - cpuBefore
  const wal = (await walBytes(client)) - before + drained.log
  const { rows } = await client.query<{ rows: string; ids: string }>(
    'select count(*) as rows, count(distinct event_id) as ids from effects',
  )
  if (Number(rows[0]!.rows) !== count || Number(rows[0]!.ids) !== count) {
    throw new Error(`${rows[0]!.rows} effects of ${rows[0]!.ids} events; ${count} were loaded`)
  }
  return {
    perSecond: count / drained.seconds,
    wal: wal / count,
    own: drained.cpu / count,
    server: server / count,
  }
}

export async function walBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>("select pg_current_wal_lsn() - '0/0' as bytes")
  return Number(rows[0]!.bytes)
}

function findings(keys: readonly string[], samples: Samples): Findings {
  const to = (key: string, other: string) => samples.ratio(key, other, 'perSecond')
  const peers = ['pg-boss', 'pg-boss-tx', 'pg-boss-one', 'graphile', 'bullmq', 'by-hand'].filter((key) =>
    samples.has(key),
  )
  const best = peers.reduce<string | undefined>(
    (found, key) =>
      found !== undefined && samples.of(found, 'perSecond') >= samples.of(key, 'perSecond') ? found : key,
    undefined,
  )
  const figures: Record<string, number> = {
    'tx.ofGraphile': to('ours-tx', 'graphile'),
    'tx.ofByHand': to('ours-tx', 'by-hand'),
    'share.ofGraphile': to('ours-share', 'graphile'),
    'plain.ofGraphile': to('ours-plain', 'graphile'),
    'group.ofBest': best === undefined ? Number.NaN : to('ours-group', best),
  }
  for (const key of keys) {
    figures[`${key}.perSecond`] = samples.of(key, 'perSecond')
    figures[`${key}.own`] = samples.of(key, 'own')
    figures[`${key}.server`] = samples.of(key, 'server')
  }
  return {
    tables: [
      {
        title: 'One effect row for each event, 16 at a time. Atomic: effect and outcome commit together',
        head: [
          'system',
          'atomic',
          'of graphile-worker',
          'events/s',
          'range',
          'WAL bytes',
          'CPU µs: own process',
          'PostgreSQL',
        ],
        rows: keys.map((key) => [
          systems[key]!.name,
          systems[key]!.atomic ? 'yes' : 'no',
          to(key, 'graphile'),
          samples.of(key, 'perSecond'),
          samples.range(key, 'perSecond'),
          samples.of(key, 'wal'),
          samples.of(key, 'own'),
          samples.of(key, 'server'),
        ]),
      },
    ],
    figures,
  }
}
