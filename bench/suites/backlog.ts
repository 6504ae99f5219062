/** A backlog of up to a million events is drained with shared transactions, one effect row each. Does the rate hold? */
import pg from 'pg'
import type { Suite } from '../suite.js'
import { fillPostgres } from '../support/fill.js'

const KIND = 'ours-share'

export const backlog: Suite = {
  name: 'backlog',
  title: 'Drain of a backlog',
  minutes: 5,
  async run(bench) {
    const size = bench.short
      ? 500
      : bench.full
        ? 1_000_000
        : Math.min(1_000_000, Math.round(bench.budgetMs / 1_000) * 4_000)
    bench.note(`The backlog has ${size.toLocaleString('en-US')} events (--full: 1,000,000).`)
    const url = await bench.database()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    bench.after(() => client.end())
    await client.query('create table effects (event_id text not null, amount int not null)')
    const child = await bench.child(new URL('../systems/drain-child.ts', import.meta.url), [KIND], {
      BENCH_POSTGRES: url,
      BENCH_SAMPLE_MS: bench.short ? '10' : '500',
    })
    const fill = { source: 'shop', type: 'paid', from: 1, to: size, isWaiting: true }
    await fillPostgres(client, KIND.replace('-', '_'), { ...fill, progress: bench.progress })
    bench.progress('draining')
    const { seconds, series, sampleMs } = await child.ask<{
      seconds: number
      series: number[]
      sampleMs: number
    }>({ do: 'drain', count: size })
    const { rows } = await client.query<{ count: string }>('select count(distinct event_id) from effects')
    if (Number(rows[0]!.count) !== size) throw new Error(`${rows[0]!.count} effects of ${size} events`)
    await child.stop()
    // The time when this part of the events had begun, to the next sample.
    const msUntil = (part: number) => {
      const index = series.findIndex((count) => count >= part * size)
      return ((index < 0 ? series.length : index) + 1) * sampleMs
    }
    const first = (100 * size) / msUntil(0.1)
    const last = (100 * size) / Math.max(sampleMs, msUntil(1) - msUntil(0.9))
    return {
      tables: [
        {
          title: 'Shared transactions (`share: 50`), 16 at a time, one effect row each',
          head: ['events', 'seconds', 'events/s', 'first tenth', 'last tenth', 'last / first'],
          rows: [[size.toLocaleString('en-US'), seconds, size / seconds, first, last, last / first]],
        },
      ],
      figures: { perSecond: size / seconds, lastOfFirst: last / first },
    }
  },
}
