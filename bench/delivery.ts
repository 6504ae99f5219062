/**
 * One delivery with 1, 100 and 1,000 events (Meta, about 80 bytes each), on SQLite: identify only, receive up to the
 * answer, and every event handled by a handler that reads its payload. The time per event should not grow.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox } from 'hookonce'
import { meta } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { median, table } from './support/table.js'

const counts = [1, 100, 1_000]

export async function deliveryBench(args: string[]): Promise<void> {
  const rounds = Number(args[0] ?? 5)
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-bench-'))
  const source = meta({ secret: 'a secret that is long enough' })
  const inbox = createInbox({ store: sqlite(join(folder, 'events.db')), sources: { meta: source } })
  let read = 0
  inbox.on('meta', '*', (event) => {
    if ((event.payload as { id: string }).id === event.id) read++
  })
  try {
    const times = new Map(
      counts.map((count) => [
        count,
        { identify: [] as number[], receive: [] as number[], handle: [] as number[] },
      ]),
    )
    for (let round = -1; round < rounds; round++) {
      for (const count of counts) {
        const delivery = await source.sign({ body: bodyOf(count, `${round}`), now: Date.now() })
        const identify = await timed(() => source.identify(delivery))
        const receive = await timed(() => inbox.receive('meta', delivery))
        read = 0
        const handle = await timed(() => inbox.drain())
        if (read !== count) throw new Error(`${read} of ${count} events had their own payload`)
        if (round < 0) continue // warm-up
        const row = times.get(count)!
        row.identify.push(identify)
        row.receive.push(receive)
        row.handle.push(handle)
      }
    }
    const rows = [...times].map(([count, { identify, receive, handle }]) => {
      const all = median(identify) + median(receive) + median(handle)
      return [String(count), median(identify), median(receive), median(handle), (1_000 * all) / count]
    })
    console.log(`\nmedians of ${rounds} rounds`)
    console.log(
      table(['events in a delivery', 'identify ms', 'receive ms', 'handle all ms', 'µs/event'], rows),
    )
  } finally {
    await inbox.stop()
    rmSync(folder, { recursive: true })
  }
}

async function timed(run: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

function bodyOf(count: number, round: string): string {
  const messages = Array.from({ length: count }, (_, i) => ({
    id: `wamid.${round}.${count}.${i}`,
    from: '16505551234',
    type: 'text',
    text: { body: 'hello' },
  }))
  const value = { metadata: { phone_number_id: '106540352242922' }, messages }
  return JSON.stringify({
    object: 'page',
    entry: [{ id: '1', time: 1, changes: [{ field: 'messages', value }] }],
  })
}
