/**
 * Outcomes that are written without a transaction: the next handlers do not wait for them, many share a write, and their
 * number has a limit.
 */
import type { CompleteStore, Settlement } from 'hookonce'
import { expect, it } from 'vitest'
import { ids, onBothLogs, postAll, stateOf, until } from '../support/processing.js'

/** The store, with a `settle` that waits until `open` is called. */
function gated(store: CompleteStore) {
  const writes: number[] = []
  let settled = 0
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    writes,
    open: () => open(),
    settled: () => settled,
    store: {
      ...store,
      async settle(settlements: readonly Settlement[]) {
        writes.push(settlements.length)
        await opened
        const written = await store.settle(settlements)
        settled += settlements.length
        return written
      },
    },
  }
}

const processing = { concurrency: 1, pollMs: 50 }

onBothLogs((bench) => {
  it('handlers start while outcomes of earlier events are written, eight for each place, and the outcomes share writes', async () => {
    const gate = gated(bench.store())
    const { inbox } = bench.inbox({ store: gate.store, processing })
    const begun: string[] = []
    let mostUnsettled = 0
    inbox.on('shop', '*', (event) => {
      begun.push(event.id)
      mostUnsettled = Math.max(mostUnsettled, begun.length - gate.settled())
    })
    await postAll(
      inbox,
      ids(30).map((id) => ({ id })),
    )
    await inbox.start()
    await until(() => begun.length === 9, 'eight events have left the place to the next one')
    gate.open()
    for (const id of ids(30))
      await until(async () => (await stateOf(inbox, id)) === 'succeeded', `${id} succeeds`)
    expect(mostUnsettled).toBe(9)
    expect(begun.toSorted()).toEqual(ids(30).toSorted())
    expect(Math.max(...gate.writes)).toBeGreaterThan(1)
  })

  it('stop waits for the outcomes, and releases the events that have not begun', async () => {
    const gate = gated(bench.store())
    const { inbox } = bench.inbox({ store: { ...gate.store, close: async () => {} }, processing })
    const begun: string[] = []
    inbox.on('shop', '*', (event) => void begun.push(event.id))
    await postAll(
      inbox,
      ids(20).map((id) => ({ id })),
    )
    await inbox.start()
    await until(() => begun.length === 9, 'the places are used up')
    const stopped = inbox.stop()
    gate.open()
    await stopped
    const { inbox: reader } = bench.inbox()
    for (const id of ids(20))
      expect([id, await stateOf(reader, id)]).toEqual([id, begun.includes(id) ? 'succeeded' : 'pending'])
  })
})
