/**
 * npm run chaos -- bloat: the work table after a day with a transaction that stays open. A day of 10 events a second is
 * 864,000 rows that are inserted, leased and deleted, as record, claim and settle do it; here it is done in portions by
 * SQL, without the pauses. In between, the store records, claims and settles 100 events, which is timed.
 *
 * HOOKONCE_BLOAT_EVENTS (864000) is the number of handled events.
 */
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { delivery } from '../../test/support/delivery.js'
import { startPostgres } from '../../test/support/postgres.js'
import { atEnd, longRun } from '../long-run.js'

const events = Number(process.env.HOOKONCE_BLOAT_EVENTS ?? 864_000)
const PORTION = 1_000
const LOOKS = 8

await longRun(main)

async function main(): Promise<boolean> {
  const server = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } })
  atEnd(() => server.remove())
  const store = postgres({ url: server.url, statementTimeout: 120_000 })
  await store.migrate()
  const [client, reader] = [server.url, server.url].map(
    (connectionString) => new pg.Client({ connectionString }),
  )
  for (const one of [client!, reader!]) {
    one.on('error', () => {})
    await one.connect()
    atEnd(() => one.end().catch(() => {}))
  }
  await client!.query('create extension pgstattuple; set synchronous_commit = off')

  let recorded = 0
  async function handle100(): Promise<number> {
    await store.record(Array.from({ length: 100 }, () => delivery(`e${recorded++}`)))
    const from = performance.now()
    const claimed = await store.claim({ worker: 'bloat', limit: 100, leaseMs: 60_000 })
    const outcome = { kind: 'succeeded' } as const
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome, durationMs: 1 })))
    return performance.now() - from
  }
  async function look(handled: string) {
    const times: number[] = []
    for (let i = 0; i < 7; i++) times.push(await handle100())
    const { rows } = await client!.query(
      `select dead_tuple_count::int as dead, pg_size_pretty(pg_relation_size('hookonce.work')) as heap,
         pg_size_pretty(pg_indexes_size('hookonce.work')) as indexes from pgstattuple('hookonce.work')`,
    )
    times.sort((a, b) => a - b)
    const { settings } = await store.inspect.report()
    return {
      handled,
      ...rows[0],
      'claim and settle 100, median ms': Math.round(times[3]!),
      'worst ms': Math.round(times[6]!),
      doctor: settings
        .filter(({ ok }) => !ok)
        .map(({ name }) => name)
        .join(', '),
    }
  }

  const table = [await look('before')]
  await reader!.query('begin isolation level repeatable read; select count(*) from hookonce.work')
  const first = 1_000_000_000
  for (let done = 0, looked = 0; done < events; done += PORTION) {
    const range = [first + done, first + done + PORTION - 1]
    await client!.query(
      `insert into hookonce.work (seq, source, next_at) select n, 'shop', now() from generate_series($1::bigint, $2::bigint) n`,
      range,
    )
    await client!.query(
      `update hookonce.work set token = gen_random_uuid(), worker = 'w', claimed_at = now(), attempt = attempt + 1,
         next_at = now() + interval '30 seconds' where seq between $1 and $2`,
      range,
    )
    await client!.query('delete from hookonce.work where seq between $1 and $2', range)
    if (done + PORTION >= ((looked + 1) * events) / LOOKS) {
      looked++
      table.push(await look(`${done + PORTION}, transaction open`))
    }
  }
  await reader!.query('commit')
  await client!.query('vacuum hookonce.work')
  table.push(await look('transaction ended, vacuum'))
  console.table(table)
  await store.close()
  return true
}
