/** hookonce in the drain, in its modes, with as many connections as the other systems. */
import { createHash } from 'node:crypto'
import { createInbox } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import { CONCURRENCY, columnsOf, effect, effects, type Item, pool, type System } from './system.js'

export async function ours(kind: string): Promise<System> {
  const schema = kind.replaceAll('-', '_')
  const isOrdered = kind.startsWith('ours-ordered')
  const lanes = isOrdered ? Number(kind.split('-')[2]) : 0
  const store = postgres({ url: process.env.BENCH_POSTGRES!, schema, maxTransactions: 20 })
  await store.migrate()
  const own = pool()

  function open(began: (events: number) => void) {
    const inbox = createInbox({
      // An inbox closes its store when it stops, and this one is used in the next round.
      store: { ...store, close: async () => {} },
      sources: {
        shop: unverified({ id: 'json:id', reference: 'json:ref' }),
      },
      processing: { concurrency: CONCURRENCY },
      log: { debug() {}, info() {}, warn() {}, error: console.error },
    })
    if (kind === 'ours-tx' || kind === 'ours-share' || isOrdered) {
      inbox.on(
        'shop',
        'paid',
        async (event, ctx) => {
          began(1)
          const item = event.payload as Item
          await ctx.tx.query({ name: 'effect', text: effect, values: [item.id, item.amount] })
        },
        { share: kind === 'ours-share' ? 50 : 1, ...(isOrdered && { order: 'reference' as const }) },
      )
    } else if (kind === 'ours-group') {
      inbox.onBatch(
        'shop',
        'paid',
        async (events, ctx) => {
          began(events.length)
          const values = columnsOf(events.map((event) => event.payload as Item))
          await ctx.tx.query({ name: 'effects', text: effects, values })
        },
        { maxBatch: 50 },
      )
    } else {
      inbox.on('shop', 'paid', async (event) => {
        began(1)
        const item = event.payload as Item
        await own.query({ name: 'effect', text: effect, values: [item.id, item.amount] })
      })
    }
    return inbox
  }

  return {
    async load(items) {
      await store.record(
        items.map((item) => {
          const reference = isOrdered ? `order_${item.amount % lanes}` : null
          const body = Buffer.from(JSON.stringify({ ...item, type: 'paid', ref: reference }))
          const contentHash = createHash('sha256').update(body).digest()
          return {
            source: 'shop',
            headers: { 'content-type': 'application/json' },
            body,
            events: [
              {
                id: item.id,
                type: 'paid',
                reference,
                contentHash,
                guardHash: null,
                ...(isOrdered && { lane: reference }),
              },
            ],
            contentGuard: 'review' as const,
          }
        }),
      )
    },
    async work(began) {
      const inbox = open(began)
      await inbox.start()
      return () => inbox.stop()
    },
    async close() {
      await store.close()
      await own.end()
    },
  }
}
