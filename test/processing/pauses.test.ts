/** A pause is in the log: it holds for every process, and after a restart. */
import type { Store } from 'hookonce'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { ids, onBothLogs, post, postAll, shop, signal, stateOf, until } from '../support/processing.js'

const LEASE_MS = 30_000

onBothLogs((bench) => {
  /** A process that handles all events of `shop`. */
  async function worker(store: Store = bench.store()) {
    const { inbox } = bench.inbox({ store, processing: { lease: LEASE_MS, poll: 20 } })
    const handled: string[] = []
    inbox.on('shop', '*', (event) => void handled.push(event.id))
    await inbox.start()
    return { inbox, handled, knows: (count: number) => wholeInbox(inbox).paused.list.length === count }
  }

  test('a pause by one process holds back the others, and a resume lets them go on', async () => {
    const [first, second] = [await worker(), await worker()]
    const { inbox: operator } = bench.inbox({ processing: false })
    expect(await operator.pause('shop', undefined, { actor: 'ada', note: 'the database moves' })).toBe(true)
    expect(await operator.pause('shop')).toBe(false)
    await until(() => first.knows(1) && second.knows(1), 'both know it')
    await postAll(
      first.inbox,
      ids(20).map((id) => ({ id })),
    )
    expect(await second.inbox.drain()).toBe(0)
    expect(await second.inbox.process('shop', 'e0')).toMatchObject({ kind: 'postponed' })
    expect((await first.inbox.events.stats())[0]).toMatchObject({ pending: 20, processing: 0 })
    expect(await operator.resume('shop', undefined, { actor: 'ada' })).toBe(true)
    await until(() => first.handled.length + second.handled.length === 20, 'all are handled')
    const { events } = await operator.events.list({})
    expect(events.map(({ attempts }) => attempts)).toEqual(Array.from({ length: 20 }, () => 1))
  })

  test('it survives a restart, and says by whom and since when', async () => {
    const { inbox } = bench.inbox()
    await inbox.pause('shop', 'order.*', { actor: 'ada', note: 'ticket 4711' })
    await inbox.stop()
    const { inbox: again, handled } = await worker()
    await post(again, { id: 'held', type: 'order.paid' })
    await post(again, { id: 'other', type: 'customer.new' })
    await until(() => handled.includes('other'), 'other types go on')
    await until(async () => (await stateOf(again, 'held')) === 'pending', 'it waits')
    expect(await again.drain()).toBe(0)
    expect(handled).toEqual(['other'])
    expect(await again.pauses()).toEqual([
      { source: 'shop', type: 'order.*', actor: 'ada', note: 'ticket 4711', at: expect.any(Number) },
    ])
    await again.resume('shop', 'order.*')
    await until(() => handled.includes('held'), 'it is handled')
  })

  test('events that another process has claimed and not begun are released when they are paused', async () => {
    const store = bench.store()
    const { inbox } = bench.inbox({ store, processing: { lease: LEASE_MS, poll: 20, concurrency: 1 } })
    const [begun, goOn] = [signal(), signal()]
    const handled: string[] = []
    inbox.on('shop', '*', async (event) => {
      handled.push(event.id)
      begun.give()
      await goOn.wait
    })
    await postAll(
      inbox,
      ids(3).map((id) => ({ id })),
    )
    await inbox.start()
    await begun.wait
    await until(async () => (await inbox.events.stats())[0]!.processing > 1, 'more are claimed')
    const { inbox: operator } = bench.inbox({ processing: false })
    await operator.pause('shop')
    await until(
      async () => (await inbox.events.stats())[0]!.processing === 1,
      'only the one that runs is held',
    )
    goOn.give()
    await until(async () => (await inbox.events.stats())[0]!.succeeded === 1, 'it ends')
    expect(handled).toHaveLength(1)
  })

  test('a process that gets no notification learns of a pause by polling', async () => {
    const store = bench.store()
    const deaf: Store = { ...store, subscribe: async () => async () => {} }
    const { knows } = await worker(deaf)
    const { inbox: operator } = bench.inbox({ processing: false })
    await operator.pause('shop')
    await until(() => knows(1), 'it knows it')
    await operator.resume('shop')
    await until(() => knows(0), 'it knows that it is over')
  })

  test('a request of a process that was not started finds the pause of another process', async () => {
    const { inbox } = bench.inbox({ sources: { shop: shop({ mode: 'inline' }) } })
    let handled = 0
    inbox.on('shop', '*', () => void handled++)
    expect((await post(inbox, { id: 'before' })).status).toBe('processed')
    const { inbox: operator } = bench.inbox({ processing: false })
    await operator.pause('shop')
    let tries = 0
    await until(async () => (await post(inbox, { id: `e${tries++}` })).httpStatus === 503, 'it is held back')
    const before = handled
    expect((await post(inbox, { id: 'later' })).httpStatus).toBe(503)
    expect(handled).toBe(before)
  })

  test('while nothing is paused, records and claims ask the log for no pause', async () => {
    const store = bench.store()
    let asked = 0
    const counting: Store = {
      ...store,
      pauses: {
        ...store.pauses,
        list: () => {
          asked++
          return store.pauses.list()
        },
      },
    }
    const { inbox } = bench.inbox({ store: counting, processing: { lease: LEASE_MS, poll: 60_000 } })
    let handled = 0
    inbox.on('shop', '*', () => void handled++)
    await inbox.start()
    await postAll(
      inbox,
      ids(200).map((id) => ({ id })),
    )
    await until(() => handled === 200, 'they are handled')
    expect(asked).toBe(1)
  })
})
