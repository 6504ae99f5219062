/**
 * Receiving and handling in one process: how many events it can sustain, and how long an event takes at fixed rates. Latency
 * counts from the time at which a delivery was due to be sent, to its acknowledgement and to the end of its handler, which
 * writes one row.
 */
import pg from 'pg'
import type { Bench } from '../bench.js'
import type { Sample, Samples } from '../report/samples.js'
import { quantile } from '../report/table.js'
import type { Suite, Table } from '../suite.js'
import type { Child } from '../support/child-process.js'
import { processCpu, serverCpu } from '../support/cpu.js'
import { walFlushes } from '../support/flushes.js'
import { hrtimeMs, load, steadyLoad } from '../support/load.js'
import { stripeRequests } from '../support/requests.js'
import { walBytes } from './processing.js'

type Names = Readonly<Record<string, string>>

const inBackground: Names = {
  sqlite: 'hookonce, SQLite, a transaction per event',
  postgres: 'hookonce, PostgreSQL, a transaction per event',
  share: 'hookonce, PostgreSQL, `share: 50`',
  'pg-boss': 'pg-boss, batches of 50',
  graphile: 'graphile-worker, local queue of 500',
  bullmq: 'BullMQ, Redis with appendfsync always',
}
const inRequest: Names = {
  inline: 'hookonce, PostgreSQL, inline mode',
  'by-hand': 'hand-written: begin, insert the key, write, commit',
}
const RATES = [50, 300, 1_000] as const
/** Above this part of its capacity a side only builds up a queue. */
const MOST_LOAD = 0.8
/** A process runs for days: its code is compiled, its plans are chosen, its tables are not empty. */
const WARM_UP_EVENTS = 20_000

interface Side {
  readonly child: Child
  readonly port: number
}

export const endToEnd: Suite = {
  name: 'end-to-end',
  title: 'End to end',
  minutes: 9,
  async run(bench) {
    const { wanted, samples, flushes } = await measure(bench, inBackground)
    const peers = ['pg-boss', 'graphile', 'bullmq'].filter((side) => samples.has(side))
    const best = (name: string) =>
      Math.min(...peers.map((side) => samples.of(side, name)).filter(Number.isFinite))
    const figures: Record<string, number> = {}
    for (const side of wanted) {
      figures[`${side}.capacity`] = samples.of(side, 'capacity')
      figures[`${side}.ofBullmq`] = samples.ratio(side, 'bullmq', 'capacity')
      figures[`${side}.flushes`] = flushes.get(side) ?? Number.NaN
      figures[`${side}.done99`] = samples.of(side, '300.done99')
      for (const rate of RATES)
        figures[`${side}.${rate}.ofBest`] = samples.of(side, `${rate}.done50`) / best(`${rate}.done50`)
    }
    return { tables: tablesOf(inBackground, wanted, samples, flushes), figures }
  },
}

export const inline: Suite = {
  name: 'inline',
  title: 'Handled inside the request',
  minutes: 3,
  async run(bench) {
    const { wanted, samples, flushes } = await measure(bench, inRequest)
    return {
      tables: tablesOf(inRequest, wanted, samples, flushes),
      figures: {
        rateOfByHand: samples.ratio('inline', 'by-hand', 'capacity'),
        p99OfByHand: samples.ratio('inline', 'by-hand', '300.ack99'),
        flushes: flushes.get('inline') ?? Number.NaN,
      },
    }
  },
}

interface Measured {
  readonly wanted: readonly string[]
  readonly samples: Samples
  readonly flushes: ReadonlyMap<string, number>
}

async function measure(bench: Bench, names: Names): Promise<Measured> {
  const wanted = bench.measured(Object.keys(names)).filter((side) => side !== 'bullmq' || bench.redis)
  const { url, workers } = await startWorkers(bench, wanted)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  bench.after(() => client.end())
  const seconds = bench.short ? 0.1 : 3
  const samples = await bench.rounds({
    title: `capacity, and ${seconds} s at each rate`,
    sides: wanted,
    most: 7,
    share: 0.8,
    async measure(side, round) {
      const worker = workers.get(side)!
      if (round < 0) {
        await saturate(worker, WARM_UP_EVENTS)
        return {}
      }
      const { capacity } = await saturate(worker, bench.short ? 100 : 20_000, bench.short ? 200 : 1_500)
      const sample: Record<string, number> = { capacity }
      for (const rate of RATES) {
        if (!bench.short && rate > MOST_LOAD * capacity) continue
        const found = await atRate(bench, client, worker, rate, seconds)
        for (const [name, value] of Object.entries(found)) sample[`${rate}.${name}`] = value
      }
      return sample
    },
  })
  return {
    wanted,
    samples,
    flushes: await flushesOf(bench, wanted, url, workers),
  }
}

async function startWorkers(
  bench: Bench,
  wanted: readonly string[],
): Promise<{ readonly url: string; readonly workers: ReadonlyMap<string, Side> }> {
  const folder = bench.folder()
  const url = await bench.database()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create table effects (event_id text not null, amount int not null)')
  await client.end()
  const started = await Promise.all(
    wanted.map(async (side) => {
      const child = await bench.child(new URL('../sides/worker-child.ts', import.meta.url), [side], {
        BENCH_SQLITE: `${folder}/${side}.db`,
        BENCH_POSTGRES: url,
        BENCH_REDIS_PORT: String(bench.redis?.port ?? 0),
      })
      const { port } = await child.ask<{ port: number }>({ do: 'listen' })
      return [side, { child, port }] as const
    }),
  )
  return { url, workers: new Map(started) }
}

/** As many as are received and handled in a second, when senders wait for their acknowledgements. */
async function saturate({ child, port }: Side, most: number, ms?: number): Promise<{ capacity: number }> {
  const requests = stripeRequests(most)
  await child.ask({ do: 'expect', count: requests.length })
  const startedAt = hrtimeMs()
  const { count } = await load(port, 64, requests, ms)
  const doneAts = await child.ask<number[]>({ do: 'done', count })
  return { capacity: (count * 1_000) / (Math.max(...doneAts.slice(0, count)) - startedAt) }
}

async function atRate(
  bench: Bench,
  client: pg.Client,
  side: Side,
  rate: number,
  seconds: number,
): Promise<Sample> {
  const cpu = () => ({ ...processCpu(side.child.pid), server: serverCpu(bench.postgres.dataDir) })
  const before = { ...cpu(), wal: await walBytes(client) }
  const { acks, dones } = await send(side, rate, seconds)
  const after = { ...cpu(), wal: await walBytes(client) }
  return {
    ack50: quantile(acks, 0.5),
    ack99: quantile(acks, 0.99),
    done50: quantile(dones, 0.5),
    done99: quantile(dones, 0.99),
    main: (after.main - before.main) / dones.length,
    others: (after.others - before.others) / dones.length,
    server: (after.server - before.server) / dones.length,
    wal: (after.wal - before.wal) / dones.length,
  }
}

async function send(
  { child, port }: Side,
  rate: number,
  seconds: number,
): Promise<{ readonly acks: number[]; readonly dones: number[] }> {
  const requests = stripeRequests(Math.max(10, Math.ceil(rate * seconds)))
  await child.ask({ do: 'expect', count: requests.length })
  const dueAts = new Float64Array(requests.length)
  const { latenciesMs } = await steadyLoad(port, rate, requests, undefined, (index, dueAt) => {
    dueAts[index] = dueAt
  })
  const doneAts = await child.ask<number[]>({ do: 'done', count: requests.length })
  return { acks: [...latenciesMs], dones: doneAts.map((at, i) => at - dueAts[i]!) }
}

/** At a low rate, where no two events share a flush. Measured once: the server reports the number late. */
async function flushesOf(
  { short }: Bench,
  wanted: readonly string[],
  url: string,
  workers: ReadonlyMap<string, Side>,
): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const side of wanted.filter((name) => name !== 'sqlite')) {
    const before = await walFlushes(url, short)
    const { dones } = await send(workers.get(side)!, 50, short ? 0.1 : 6)
    found.set(side, ((await walFlushes(url, short)) - before) / dones.length)
  }
  return found
}

function tablesOf(
  names: Names,
  wanted: readonly string[],
  samples: Samples,
  flushes: ReadonlyMap<string, number>,
): Table[] {
  const compared = samples.has('bullmq') ? 'bullmq' : 'by-hand'
  return [
    {
      title: 'Capacity: senders wait for their acknowledgements',
      head: [
        'system',
        'events/s',
        'range',
        compared === 'bullmq' ? 'of BullMQ' : 'of by hand',
        'flushes of PostgreSQL for an event at 50/s',
      ],
      rows: wanted.map((side) => [
        names[side]!,
        samples.of(side, 'capacity'),
        samples.range(side, 'capacity'),
        samples.ratio(side, compared, 'capacity'),
        flushes.get(side) ?? '-',
      ]),
    },
    ...RATES.map((rate) => ({
      title: `${rate} events a second: ms from the intended time of sending; CPU µs and WAL bytes for an event`,
      head: [
        'system',
        'ack p50',
        'p99',
        'handled p50',
        'p99',
        'CPU: main thread',
        'other threads',
        'PostgreSQL',
        'WAL',
      ],
      rows: wanted.map((side) => [
        names[side]!,
        ...['ack50', 'ack99', 'done50', 'done99', 'main', 'others', 'server', 'wal'].map((name) =>
          samples.of(side, `${rate}.${name}`),
        ),
      ]),
    })),
  ]
}
