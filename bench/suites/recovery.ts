/**
 * A worker that holds 500 events is killed with SIGKILL. Time until another worker, started at once, has handled all of
 * them; and that time beyond the lease, which has to pass first.
 */

import { createInbox, type Inbox } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { wholeInbox } from '#dist/inbox/internals.js'
import type { Suite } from '../suite.js'

const HELD = 500

export const recovery: Suite = {
  name: 'recovery',
  title: 'Recovery after kill -9 of a worker',
  minutes: 1,
  async run(bench) {
    const leaseMs = bench.short ? 1_000 : 3_000
    const stores = { sqlite: `sqlite:${bench.folder()}/events.db`, postgres: await bench.database() } as const
    const samples = await bench.rounds({
      title: `${HELD} held events, lease of ${leaseMs / 1_000} s`,
      sides: Object.keys(stores),
      most: 3,
      async measure(kind) {
        const url = stores[kind as keyof typeof stores]
        const { inbox, handled, all } = watching(url, leaseMs)
        try {
          await wholeInbox(inbox).store()
          const before = (await inbox.events.stats())[0]?.succeeded ?? 0
          await deliver(inbox)
          const holder = await bench.child(new URL('../systems/holding-child.ts', import.meta.url), [kind], {
            BENCH_STORE: url,
            BENCH_LEASE_MS: String(leaseMs),
          })
          while ((await inbox.events.stats())[0]!.processing < HELD) await pause(20)
          await holder.kill()
          const killedAt = performance.now()
          await inbox.start()
          await all
          while ((await inbox.events.stats())[0]!.succeeded < before + HELD) await pause(10)
          const seconds = (performance.now() - killedAt) / 1_000
          return { seconds, beyondLease: seconds - leaseMs / 1_000, twice: handled.size === HELD ? 0 : 1 }
        } finally {
          await inbox.stop()
        }
      },
    })
    const names: Record<string, string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
    const sides = Object.keys(stores)
    return {
      tables: [
        {
          title: `${HELD} held events, lease of ${leaseMs / 1_000} s`,
          head: ['store', 'all handled after s', 'beyond the lease s'],
          rows: sides.map((side) => [
            names[side]!,
            samples.of(side, 'seconds'),
            samples.of(side, 'beyondLease'),
          ]),
        },
      ],
      figures: Object.fromEntries(
        sides.map((side) => [`${side}.beyondLease`, samples.of(side, 'beyondLease')]),
      ),
    }
  },
}

function watching(store: string, leaseMs: number) {
  const inbox = createInbox({
    store,
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
    processing: { lease: leaseMs, concurrency: 16 },
    log: { debug() {}, info() {}, warn() {}, error: console.error },
  })
  const handled = new Set<string>()
  let done = () => {}
  const all = new Promise<void>((resolve) => {
    done = resolve
  })
  inbox.on('shop', '*', async (event) => {
    handled.add(event.id)
    if (handled.size === HELD) done()
  })
  return { inbox, handled, all }
}

async function deliver(inbox: Inbox): Promise<void> {
  const batch = Math.random().toString(36).slice(2)
  await Promise.all(
    Array.from({ length: HELD }, async (_, i) => {
      const body = JSON.stringify({ id: `evt_${batch}_${i}`, type: 'paid' })
      const { httpStatus } = await inbox.receive('shop', {
        method: 'POST',
        url: 'http://127.0.0.1/webhooks/shop',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(body),
      })
      if (httpStatus !== 200) throw new Error(`The delivery was answered with ${httpStatus}.`)
    }),
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
