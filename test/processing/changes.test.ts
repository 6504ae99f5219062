/** Handlers that are added, paused and resumed while events are claimed. */
import type { ClaimedEvent, CompleteStore } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { ids, onBothLogs, post, postAll, signal, stateOf, until } from '../support/processing.js'

/** No test is as long: an event that is left under its lease is not handled. */
const LEASE_MS = 600_000

/** The store, with the events of each claim that found some. */
function watched(store: CompleteStore) {
  const claims: (readonly ClaimedEvent[])[] = []
  const claim: CompleteStore['claim'] = async (options) => {
    const claimed = await store.claim(options)
    if (claimed.length > 0) claims.push(claimed)
    return claimed
  }
  return { claims, store: { ...store, claim } }
}

const events = (count: number, prefix: string, type: string) => ids(count, prefix).map((id) => ({ id, type }))

onBothLogs((bench) => {
  test('an event whose handler is added while its claim releases a suspect is handled', async () => {
    const store = bench.store()
    const [releasing, added] = [signal(), signal()]
    const { inbox } = bench.inbox({
      store: {
        ...store,
        async claim(options) {
          const claimed = await store.claim(options)
          return claimed.map((event) => (event.type === 'suspect' ? { ...event, losses: 2 } : event))
        },
        async release(...given) {
          releasing.give()
          await added.wait
          return store.release(...given)
        },
      },
      processing: { lease: LEASE_MS, poll: 50 },
    })
    const handled: string[] = []
    inbox.on('shop', 'suspect', (event) => void handled.push(event.id))
    await postAll(inbox, [...events(2, 'suspect', 'suspect'), { id: 'late', type: 'late' }])
    await inbox.start()
    await releasing.wait
    inbox.on('shop', 'late', (event) => void handled.push(event.id))
    added.give()
    await until(() => handled.includes('late'), 'it is handled')
  })

  test('a handler that is added while its events wait without one keeps its own limit', async () => {
    const store = bench.store()
    const asked = signal()
    const { inbox } = bench.inbox({
      store: {
        ...store,
        history: {
          ...store.history,
          async handled() {
            const handled = await store.history.handled()
            setImmediate(asked.give) // the events are in the buffer then
            return handled
          },
        },
      },
      processing: { lease: LEASE_MS, poll: 50, concurrency: 2 },
    })
    const end = signal()
    let hanging = 0
    inbox.on('shop', 'hangs', async () => {
      hanging++
      await end.wait
    })
    await inbox.start()
    await postAll(inbox, events(2, 'hangs', 'hangs'))
    await until(() => hanging === 2, 'all places are taken')
    await postAll(inbox, events(2, 'late', 'late'))
    await asked.wait
    let running = 0
    let most = 0
    let handled = 0
    inbox.on(
      'shop',
      'late',
      async () => {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 50))
        running--
        handled++
      },
      { limit: { concurrency: 1 } },
    )
    end.give()
    await until(() => handled === 2, 'both are handled')
    expect(most).toBe(1)
  })

  test('the backlog of a paused type is not claimed again and again, and is claimed at once when it is resumed', async () => {
    const { store, claims } = watched(bench.store())
    const { inbox } = bench.inbox({ store, processing: { lease: LEASE_MS, poll: 20 } })
    const handled: string[] = []
    inbox.on('shop', 'a', (event) => void handled.push(event.id))
    inbox.on('shop', 'b', (event) => void handled.push(event.id))
    await inbox.pause('shop', 'a')
    await postAll(inbox, events(100, 'a', 'a'))
    await inbox.start()
    for (const { id } of events(10, 'b', 'b')) {
      await post(inbox, { id, type: 'b' })
      await until(async () => (await stateOf(inbox, id)) === 'succeeded', 'the other handler goes on')
    }
    const ofPaused = claims.filter((claimed) => claimed.some(({ type }) => type === 'a'))
    expect(ofPaused.length).toBeLessThanOrEqual(1)
    expect((await inbox.events.stats())[0]).toMatchObject({ pending: 100, processing: 0 })
    await inbox.resume('shop', 'a')
    const isFinished = async () => (await inbox.events.stats())[0]!.succeeded === 110
    await until(isFinished, 'all are finished')
    expect(handled.length).toBe(110)
  })

  test('nothing is claimed from a paused source', async () => {
    const { store, claims } = watched(bench.store())
    const { inbox } = bench.inbox({ store, processing: { lease: LEASE_MS, poll: 20 } })
    let handled = 0
    inbox.on('shop', '*', () => void handled++)
    await inbox.pause('shop', '*')
    await postAll(inbox, events(20, 'e', 'e'))
    await inbox.start()
    expect(await inbox.drain()).toBe(0)
    expect(claims).toEqual([])
    await inbox.resume('shop', '*')
    await until(() => handled === 20, 'they are handled')
  })
})
