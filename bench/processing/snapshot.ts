/**
 * The cost of a claim while another session has a snapshot open during the whole drain (a report, a backup, a forgotten
 * transaction): PostgreSQL cannot remove rows that were settled since, and each claim may have to skip them.
 */
import { createHash, randomBytes } from 'node:crypto'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { median, table } from '../support/table.js'

const EVENTS = 20_000
const CLAIM = 50

export async function snapshotBench(url: string, rounds: number): Promise<void> {
  const store = postgres({ url, schema: 'snapshot' })
  const client = new pg.Client({ connectionString: url })
  const holder = new pg.Client({ connectionString: url })
  const typical: Record<'without' | 'open', { all: number[]; last: number[] }> = {
    without: { all: [], last: [] },
    open: { all: [], last: [] },
  }
  try {
    await client.connect()
    await holder.connect()
    await store.migrate()
    for (let round = -1; round < rounds; round++) {
      for (const kind of ['without', 'open'] as const) {
        await load()
        await client.query('vacuum analyze')
        if (kind === 'open') await holder.query('begin isolation level repeatable read; select 1')
        const times = await claims()
        if (kind === 'open') await holder.query('commit')
        if (round < 0) continue // warm-up
        typical[kind].all.push(median(times))
        typical[kind].last.push(median(times.slice(-times.length / 4)))
      }
    }
  } finally {
    await store.close()
    await client.end()
    await holder.end()
  }
  const ratio = (range: 'all' | 'last') => median(typical.open[range]) / median(typical.without[range])
  console.log(
    `\na claim of ${CLAIM}, ms, draining ${EVENTS} events (median of the drain, and of its last quarter); medians of ${rounds} rounds`,
  )
  console.log(
    table(
      ['snapshot', 'whole drain', 'last quarter'],
      [
        ...(['without', 'open'] as const).map((kind) => [
          kind,
          median(typical[kind].all),
          median(typical[kind].last),
        ]),
        ['ratio', ratio('all'), ratio('last')],
      ],
    ),
  )

  async function load(): Promise<void> {
    const batch = randomBytes(4).toString('hex')
    for (let i = 0; i < EVENTS; i += 1_000) {
      await store.record(Array.from({ length: 1_000 }, (_, n) => delivery(`evt_${batch}_${i + n}`)))
    }
  }

  async function claims(): Promise<number[]> {
    const times: number[] = []
    for (;;) {
      const startedAt = performance.now()
      const claimed = await store.claim({
        worker: 'bench',
        limit: CLAIM,
        leaseMs: 60_000,
        sources: ['shop'],
      })
      if (claimed.length === 0) return times
      times.push(performance.now() - startedAt)
      await store.settle(
        claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })),
      )
    }
  }
}

function delivery(eventId: string) {
  const body = Buffer.from(JSON.stringify({ id: eventId, type: 'paid', note: 'x'.repeat(140) }))
  const contentHash = createHash('sha256').update(body).digest()
  return {
    source: 'shop',
    headers: {},
    body,
    events: [{ eventId, eventType: 'paid', reference: null, contentHash, guardHash: null }],
    onReplayedContent: 'review' as const,
  }
}
