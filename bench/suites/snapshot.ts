/**
 * The cost of a claim while another session has a snapshot open during the whole drain (a report, a backup, a forgotten
 * transaction): PostgreSQL cannot remove rows that were settled since, and each claim may have to skip them.
 */
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { median } from '../report/table.js'
import type { Suite } from '../suite.js'
import { deliveries, drainTimes } from '../support/events.js'

const CLAIM = 50
const kinds = ['without', 'held']

export const snapshot: Suite = {
  name: 'snapshot',
  title: 'A snapshot held by another session',
  minutes: 1.5,
  async run(bench) {
    const events = bench.short ? 300 : 20_000
    const url = await bench.database()
    const store = postgres({ url })
    const client = new pg.Client({ connectionString: url })
    const holder = new pg.Client({ connectionString: url })
    await client.connect()
    await holder.connect()
    bench.after(async () => {
      await store.close()
      await client.end()
      await holder.end()
    })
    await store.migrate()
    const samples = await bench.rounds({
      title: `${events} events, claims of ${CLAIM}`,
      sides: kinds,
      async measure(kind) {
        for (let i = 0; i < events; i += 1_000) await store.record(deliveries(Math.min(1_000, events - i)))
        await client.query('vacuum analyze')
        if (kind === 'held') await holder.query('begin isolation level repeatable read; select 1')
        const times = await drainTimes(store, CLAIM)
        if (kind === 'held') await holder.query('commit')
        return { all: median(times), last: median(times.slice(-Math.ceil(times.length / 4))) }
      },
    })
    const names = ['all', 'last']
    return {
      tables: [
        {
          title: `A claim of ${CLAIM} while ${events.toLocaleString('en-US')} events are drained, median ms`,
          head: ['snapshot', 'whole drain', 'last quarter'],
          rows: [
            ...kinds.map((kind) => [kind, ...names.map((name) => samples.of(kind, name))]),
            ['ratio', ...names.map((name) => samples.ratio('held', 'without', name))],
          ],
        },
      ],
      figures: { ratio: samples.ratio('held', 'without', 'last') },
    }
  },
}
