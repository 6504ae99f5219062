/** Orders on a filter: oldest first over all pages, and ended in the middle of a pause. */
import type { EventFilter, EventRecord, Store } from 'hookonce'
import type { Action } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { actOnEvents } from '#dist/processing/actions.js'
import { ids, onBothLogs, post, postAll, shop, until } from '../support/processing.js'

onBothLogs((bench) => {
  describe('a replay with a rate', () => {
    test('keeps the order of each reference, over all its pages, while a worker runs what it queues', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop({ order: 'reference' }) } })
      const runs: string[] = []
      inbox.on('shop', '*', (event) => void runs.push(event.id))
      const refs = ['a', 'b', 'c']
      for (let i = 0; i < 20; i++) for (const ref of refs) await post(inbox, { id: `${ref}${i}`, ref })
      await inbox.start()
      const isDone = async () => (await inbox.events.stats())[0]!.succeeded === 60
      await until(isDone, 'all have run once')
      runs.length = 0
      // Pages of 20 events.
      expect(await inbox.replay({ source: 'shop' }, { ratePerSecond: 100, force: true })).toMatchObject({
        done: 60,
      })
      await until(() => runs.length === 60, 'all have run twice')
      for (const ref of refs) expect(runs.filter((id) => id.startsWith(ref))).toEqual(ids(20, ref))
    })

    test('ends at once when it is cancelled during a pause', async () => {
      const { inbox } = bench.inbox()
      await postAll(
        inbox,
        ids(3).map((id) => ({ id })),
      )
      const abort = new AbortController()
      const startedAt = performance.now()
      const result = await inbox.ignore(
        { source: 'shop' },
        {
          ratePerSecond: 0.02,
          signal: abort.signal,
          onProgress: () => setTimeout(() => abort.abort(), 50),
        },
      )
      // The pause is 50 seconds long.
      expect(performance.now() - startedAt).toBeLessThan(20_000)
      expect(result).toMatchObject({ matched: 1, done: 1 })
    })
  })
})

/** A list in memory, newest first, in pages. */
function listed(count: number, matches: (seq: number) => boolean) {
  const orders: number[] = []
  let lists = 0
  const store: Pick<Store, 'list' | 'operate'> = {
    async list(_: EventFilter, { limit = 50, cursor = null } = {}) {
      lists++
      const events: EventRecord[] = []
      let seq = cursor === null ? count : Number(cursor) - 1
      for (; seq > 0 && events.length < limit; seq--)
        if (matches(seq)) events.push({ seq, source: 'shop', id: `${seq}` } as EventRecord)
      return { events, next: seq > 0 ? `${seq + 1}` : null }
    },
    async operate({ events }: Action) {
      orders.push(...events.map(({ id }) => Number(id)))
      return events.map(() => ({ done: true, from: 'failed', to: 'pending' }) as const)
    },
  }
  return { store, orders, lists: () => lists }
}

test('100,000 events are ordered oldest first, and each page is listed twice', async () => {
  const { store, orders, lists } = listed(100_000, () => true)
  expect(await actOnEvents(store, 'replay', {}, {})).toMatchObject({ matched: 100_000, done: 100_000 })
  // Not compared as a whole: showing how two long lists differ takes minutes.
  expect(orders.findIndex((seq, i) => seq !== i + 1)).toBe(-1)
  expect(lists()).toBeLessThanOrEqual(1_002)
})

test('events that stop or begin to match on the way are met once or not at all, in order', async () => {
  let begun = false
  const gone = new Set<number>()
  // At first the even ones; then those that were ordered no longer, and more of the others.
  const matches = (seq: number) => !gone.has(seq) && (seq % 2 === 0 || (begun && seq % 3 === 0))
  const { store, orders } = listed(5_000, matches)
  const { matched } = await actOnEvents(
    store,
    'retry',
    {},
    {
      onProgress: () => {
        begun = true
        for (const seq of orders) gone.add(seq)
      },
    },
  )
  expect(orders.findIndex((seq, i) => i > 0 && seq <= orders[i - 1]!)).toBe(-1)
  expect(orders.length).toBe(matched)
  expect(orders.filter((seq) => seq % 2 === 0)).toHaveLength(2_500)
})
