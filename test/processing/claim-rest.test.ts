/** A busy process that finds few due events lets more of them arrive before it claims again. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { CompleteStore, NewDelivery } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { limits } from '#dist/model.js'
import { ids, onBothLogs, post, shop, until } from '../support/processing.js'

const CLAIM_MS = 20

/**
 * The store with claims that take a while; each ends with `onEnd`. `pauses` has the time between each claim and the one
 * before it.
 */
function slow(store: CompleteStore, onEnd: () => Promise<unknown>) {
  const pauses: number[] = []
  let endedAt = Number.NaN
  return {
    pauses,
    store: {
      ...store,
      // Without leases, so that every event is claimed.
      record: (deliveries: Parameters<CompleteStore['record']>[0]) => store.record(deliveries),
      async claim(...args: Parameters<CompleteStore['claim']>) {
        pauses.push(performance.now() - endedAt)
        const claimed = await store.claim(...args)
        await sleep(CLAIM_MS)
        await onEnd()
        endedAt = performance.now()
        return claimed
      },
    },
  }
}

onBothLogs((bench) => {
  test('events that did not fit into a claim, because of their size, do not wait for the poll', async () => {
    const store = bench.store()
    await store.migrate()
    const body = Buffer.alloc(limits.claimBytes / 4, 'x')
    for (const id of ids(10)) {
      const event = { id, type: 't', reference: null, contentHash: null, guardHash: null, lane: null }
      await store.record([
        { source: 'shop', headers: {}, body, events: [event], contentGuard: 'accept' } as NewDelivery,
      ])
    }
    const { inbox } = bench.inbox({ processing: { poll: '10m', concurrency: 20 } })
    let handled = 0
    inbox.on('shop', '*', () => void handled++)
    await inbox.start()
    await until(() => handled === 10, 'all are handled')
  })

  test.each([
    ['a busy process waits as long as the last claim took', undefined, true],
    ['events of a lane do not wait', 'reference' as const, false],
  ])('%s', async (_, order, waits) => {
    const waiting = ids(12)
    // The next event is recorded before a claim ends, so that the pause until the next claim has nothing to wait for.
    const { store, pauses } = slow(bench.store(), async () => {
      const id = waiting.shift()
      if (id) await post(inbox, { id, ref: id })
    })
    const { inbox } = bench.inbox({
      store,
      sources: { shop: order ? shop({ order }) : shop() },
      processing: { poll: 60_000, concurrency: 12 },
    })
    let begun = 0
    let finish = () => {}
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    inbox.on('shop', '*', () => {
      begun++
      return finished
    })
    await inbox.start()
    await until(() => begun === 12, 'all events begin')
    finish()
    // The first claims begin while no handler runs.
    const busy = pauses.slice(3)
    expect(busy.length).toBeGreaterThan(3)
    if (waits) expect(Math.min(...busy)).toBeGreaterThan(CLAIM_MS / 2)
    else expect(Math.min(...busy)).toBeLessThan(CLAIM_MS / 2)
  })
})
