/**
 * Intake over real HTTP, signed Stripe events of about 1 kB, each id once:
 *   bare         node:http that reads the body and answers: the upper limit
 *   checked      the same with the HMAC and JSON.parse
 *   sqlite       hookonce, SQLite with synchronous=FULL
 *   postgres     hookonce, PostgreSQL with fsync and synchronous_commit on
 *   handwritten  Express + pg: begin, select for update, insert, commit
 * Servers run one at a time, in turn, several rounds; figures are medians over the rounds.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripe } from 'hookonce/providers'
import { startPostgres } from '../test/support/postgres.js'
import { load } from './support/load.js'
import { startServer } from './support/server-process.js'
import { stripeRequests } from './support/stripe-requests.js'
import { median, quantile, table } from './support/table.js'

const kinds = ['bare', 'checked', 'sqlite', 'postgres', 'handwritten'] as const
type Kind = (typeof kinds)[number]

export async function intakeBench(args: string[]): Promise<void> {
  const rounds = Number(args[0] ?? 5)
  const connectionCounts = [64, 256]
  const secret = `whsec_${randomBytes(24).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const database = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } })
  const env = { BENCH_SECRET: secret, BENCH_SQLITE: join(folder, 'events.db'), BENCH_POSTGRES: database.url }
  const source = stripe({ secret })
  try {
    const servers = new Map<Kind, Awaited<ReturnType<typeof startServer>>>()
    for (const kind of kinds) servers.set(kind, await startServer(kind, env))
    for (const connections of connectionCounts) {
      const results = new Map<Kind, { perSecond: number[]; p50: number[]; p99: number[] }>()
      for (let round = -1; round < rounds; round++) {
        for (const kind of kinds) {
          const count = round < 0 ? 3_000 : kind === 'handwritten' ? 4_000 : 16_000
          const result = await load(servers.get(kind)!.port, connections, await stripeRequests(source, count))
          if (Object.keys(result.statuses).join() !== '200')
            throw new Error(`${kind}: ${JSON.stringify(result.statuses)}`)
          if (round < 0) continue // warm-up
          const sum = results.get(kind) ?? { perSecond: [], p50: [], p99: [] }
          const latencies = [...result.latenciesMs]
          sum.perSecond.push(result.perSecond)
          sum.p50.push(quantile(latencies, 0.5))
          sum.p99.push(quantile(latencies, 0.99))
          results.set(kind, sum)
        }
      }
      print(connections, rounds, results)
    }
    for (const server of servers.values()) await server.stop()
  } finally {
    await database.remove()
    rmSync(folder, { recursive: true })
  }
}

function print(
  connections: number,
  rounds: number,
  results: ReadonlyMap<Kind, { perSecond: number[]; p50: number[]; p99: number[] }>,
): void {
  const perSecond = (kind: Kind) => median(results.get(kind)!.perSecond)
  const rows = kinds.map((kind) => {
    const { p50, p99 } = results.get(kind)!
    return [
      kind,
      perSecond(kind),
      perSecond(kind) / perSecond('bare'),
      perSecond(kind) / perSecond('handwritten'),
      median(p50),
      median(p99),
    ]
  })
  console.log(`\n${connections} connections, medians of ${rounds} interleaved rounds`)
  console.log(table(['server', 'events/s', 'of bare', 'of handwritten', 'p50 ms', 'p99 ms'], rows))
}
