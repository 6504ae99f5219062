/**
 * Receiving and handling in one process, at 60 % of the rate that the process can sustain. Latency counts from the time
 * at which a delivery was due to be sent, to its acknowledgement and to the end of its handler, which writes one row.
 */
import pg from 'pg'
import type { Bench } from '../bench.js'
import type { Sample } from '../report/samples.js'
import { quantile } from '../report/table.js'
import type { Suite } from '../suite.js'
import type { Child } from '../support/child-process.js'
import { load, steadyLoad } from '../support/load.js'
import { stripeRequests } from '../support/requests.js'

const names: Readonly<Record<string, string>> = {
  sqlite: 'hookonce, SQLite, a transaction per event',
  postgres: 'hookonce, PostgreSQL, a transaction per event',
  share: 'hookonce, PostgreSQL, `share: 50`',
  'pg-boss': 'pg-boss, batches of 50',
  graphile: 'graphile-worker, local queue of 500',
  bullmq: 'BullMQ, Redis with appendfsync always',
}
const LOAD = 0.6

export const endToEnd: Suite = {
  name: 'end-to-end',
  title: 'End to end at 60 % load',
  minutes: 4,
  async run(bench) {
    const wanted = Object.keys(names).filter((side) => side !== 'bullmq' || bench.redis)
    const workers = await startWorkers(bench, wanted)
    const seconds = bench.short ? 0.3 : Math.max(3, Math.min(15, bench.budgetMs / 1_000 / wanted.length / 4))
    const samples = await bench.rounds({
      title: `${seconds.toFixed(1)} s at 60 % load`,
      sides: wanted,
      most: 5,
      async measure(side, round) {
        const { child, port } = workers.get(side)!
        // In each round again, so that it is the capacity of this minute.
        const capacity = await capacityOf(bench, child, port)
        if (round < 0) return { capacity }
        return { capacity, ...(await atRate(child, port, LOAD * capacity, seconds)) }
      },
    })
    const of = (side: string, name: string) => samples.of(side, name)
    return {
      tables: [
        {
          title: 'Latency from the intended time of sending, ms',
          head: [
            'system',
            'capacity events/s',
            'load events/s',
            'ack p50',
            'p99',
            'p99.9',
            'handled p50',
            'p99',
            'p99.9',
          ],
          rows: wanted.map((side) => [
            names[side]!,
            of(side, 'capacity'),
            of(side, 'rate'),
            ...['ack50', 'ack99', 'ack999', 'done50', 'done99', 'done999'].map((name) => of(side, name)),
          ]),
        },
      ],
      figures: Object.fromEntries(
        wanted.flatMap((side) => [
          [`${side}.capacity`, of(side, 'capacity')],
          [`${side}.done99`, of(side, 'done99')],
        ]),
      ),
    }
  },
}

async function startWorkers(
  bench: Bench,
  wanted: readonly string[],
): Promise<Map<string, { readonly child: Child; readonly port: number }>> {
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
  return new Map(started)
}

/** As many as are received and handled in a second, when senders wait for their acknowledgements. */
async function capacityOf(bench: Bench, child: Child, port: number): Promise<number> {
  const requests = stripeRequests(bench.short ? 100 : 20_000)
  await child.ask({ do: 'expect', count: requests.length })
  const startedAt = hrtimeMs()
  const { count } = await load(port, 64, requests, bench.short ? 200 : 1_500)
  const doneAts = await child.ask<number[]>({ do: 'done', count })
  return (count * 1_000) / (Math.max(...doneAts.slice(0, count)) - startedAt)
}

async function atRate(child: Child, port: number, rate: number, seconds: number): Promise<Sample> {
  const requests = stripeRequests(Math.max(10, Math.ceil(rate * seconds)))
  await child.ask({ do: 'expect', count: requests.length })
  const dueAts = new Float64Array(requests.length)
  const offset = hrtimeMs() - performance.now()
  const { latenciesMs } = await steadyLoad(port, rate, requests, undefined, (index, dueAt) => {
    dueAts[index] = dueAt + offset
  })
  const doneAts = await child.ask<number[]>({ do: 'done', count: requests.length })
  const acks = [...latenciesMs]
  const dones = doneAts.map((at, i) => at - dueAts[i]!)
  return {
    rate,
    ack50: quantile(acks, 0.5),
    ack99: quantile(acks, 0.99),
    ack999: quantile(acks, 0.999),
    done50: quantile(dones, 0.5),
    done99: quantile(dones, 0.99),
    done999: quantile(dones, 0.999),
  }
}

/** The monotonic clock of the machine, which the child shares. */
function hrtimeMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
