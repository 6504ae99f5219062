/** A batch that fails: its events run alone, each in an attempt and a place of its own. */
import { type BatchContext, type HandledEvent, postpone, type Store } from 'hookonce'
import { expect, test } from 'vitest'
import { ids, onBothLogs, postAll, quickRetry, stateOf, until } from '../support/processing.js'

/** No test is as long: an event that is left under its lease is not handled. */
const LEASE_MS = 600_000

onBothLogs((bench) => {
  test('an event whose result cannot be written does not keep the others of its batch from running', async () => {
    const store = bench.store()
    let refused = 0
    const failing: Store = {
      ...store,
      async release(leases, delayMs) {
        if (refused++ === 0) throw new Error('the store is away for a moment')
        return store.release(leases, delayMs)
      },
    }
    const processing = { concurrency: 1, lease: LEASE_MS, poll: 50, retry: quickRetry }
    const { inbox } = bench.inbox({ store: failing, processing })
    inbox.onBatch('shop', '*', (events) => {
      if (events.length > 1) throw new Error('one of them is bad')
      if (events[0]!.id === 'e0') throw postpone(10)
    })
    await postAll(
      inbox,
      ids(3).map((id) => ({ id })),
    )
    await inbox.start()
    for (const id of ['e1', 'e2'])
      await until(async () => (await stateOf(inbox, id)) === 'succeeded', `${id} succeeds`)
    expect(await stateOf(inbox, 'e0')).toBe('processing')
  })

  test('events of a shared attempt that have not begun run at once, although the outcomes of the others cannot be written', async () => {
    const store = bench.store()
    let refused = 0
    const failing: Store = {
      ...store,
      async settle(settlements) {
        if (refused++ === 0) throw new Error('the store is away for a moment')
        return store.settle(settlements)
      },
    }
    const processing = { concurrency: 1, lease: LEASE_MS, poll: 50, retry: quickRetry }
    const { inbox } = bench.inbox({ store: failing, processing })
    const handled: string[] = []
    // Two calls take longer than a shared attempt begins calls.
    const handle = async ({ id }: HandledEvent) => {
      handled.push(id)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    inbox.on('shop', '*', handle, { share: 4 })
    await postAll(
      inbox,
      ids(4).map((id) => ({ id })),
    )
    await inbox.start()
    await until(() => handled.length === 4, 'all are handled')
    await until(async () => (await stateOf(inbox, 'e3')) === 'succeeded', 'the last succeeds')
    expect(await stateOf(inbox, 'e0')).toBe('processing')
    expect(handled).toEqual(ids(4))
  })

  test('events of a batch that fails in its commit wait for places, because the batch has left its own', async () => {
    const store = bench.store()
    const failing: Store = {
      ...store,
      async transaction(options) {
        const transaction = await store.transaction(options)
        return {
          ...transaction,
          finish(settlements, onSent) {
            if (settlements.length === 1) return transaction.finish(settlements, onSent)
            onSent?.()
            return Promise.reject(new Error('a constraint that is checked by the commit'))
          },
        }
      },
    }
    const { inbox } = bench.inbox({
      store: failing,
      processing: { concurrency: 2, lease: LEASE_MS, poll: 50, retry: quickRetry },
    })
    let running = 0
    let most = 0
    const handle = async (events: readonly HandledEvent[], ctx: BatchContext) => {
      most = Math.max(most, ++running)
      if (events.length === 1) await new Promise((resolve) => setTimeout(resolve, 30))
      for (const event of events) await bench.write(ctx.tx, event.id)
      running--
    }
    inbox.onBatch('shop', '*', handle, { maxBatch: 3 })
    await postAll(
      inbox,
      ids(12).map((id) => ({ id })),
    )
    await inbox.start()
    await until(async () => (await bench.log.effects()).length >= 12, 'all are handled')
    expect((await bench.log.effects()).sort()).toEqual(ids(12).sort())
    expect(most).toBeLessThanOrEqual(2)
  })
})
