/**
 * Outcomes that are written without a transaction: the next handlers do not wait for them, many share a write, and their
 * number has a limit.
 */

import { setTimeout } from 'node:timers/promises'
import type { CompleteStore, Settlement } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { ids, onBothLogs, onLog, postAll, stateOf, until } from '../support/processing.js'

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

const processing = { concurrency: 1, poll: 50 }

onBothLogs((bench) => {
  test('handlers start while outcomes of earlier events are written, eight for each place, and the outcomes share writes', async () => {
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

  test('stop waits for the outcomes, and releases the events that have not begun', async () => {
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

  test('a handler with a limit of one handles events one after the other, without a pause between them', async () => {
    const { inbox } = bench.inbox({ processing: { poll: 50 } })
    inbox.on('shop', '*', (event, ctx) => bench.write(ctx.tx, event.id), { limit: { concurrency: 1 } })
    await postAll(
      inbox,
      ids(200).map((id) => ({ id })),
    )
    await inbox.start()
    // The time limit is 60 s. Two events were handled in each second when those that do not fit were released for a second.
    await until(async () => (await bench.log.effects()).length === 200, 'all are handled')
  })
})

onBothLogs((bench) => {
  test('a handler with a limit that was quick and hangs does not keep the events of other handlers waiting', async () => {
    const { inbox } = bench.inbox({ processing: { poll: 50 } })
    const quick = ids(60, 'quick')
    let handled = 0
    let goOn = () => {}
    const hanging = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const others: string[] = []
    inbox.on('shop', 'limited', (event) => (event.id.startsWith('quick') ? void handled++ : hanging), {
      limit: { concurrency: 1 },
    })
    inbox.on('shop', 'other', (event) => void others.push(event.id))
    await inbox.start()
    await postAll(
      inbox,
      quick.map((id) => ({ id, type: 'limited' })),
    )
    await until(() => handled === quick.length, 'the quick ones are handled')
    await postAll(
      inbox,
      ids(400, 'hangs').map((id) => ({ id, type: 'limited' })),
    )
    await postAll(
      inbox,
      ids(5, 'other').map((id) => ({ id, type: 'other' })),
    )
    await until(() => others.length === 5, 'the others are handled')
    goOn()
  })
})

onLog('PostgreSQL', (bench) => {
  test.each([
    ['without a limit begins', { concurrency: 2 }, {}, true],
    ['with a limit of its own does not begin', { concurrency: 2 }, { limit: { concurrency: 1 } }, false],
    ['of an inbox with one place does not begin', { concurrency: 1 }, {}, false],
  ])(
    'the next event of a handler %s before the effects of the last one are visible',
    async (_, places, own, overlaps) => {
      const { inbox } = bench.inbox({ processing: { ...places, poll: 20 } })
      const locker = new pg.Client({ connectionString: bench.log.args[1]! })
      await locker.connect()
      const begun: string[] = []
      let locked = false
      inbox.on(
        'shop',
        '*',
        async (event, ctx) => {
          if (begun.push(event.id) === 1) {
            // Its outcome waits for this lock, so its commit does too.
            await locker.query('begin')
            await locker.query(`select 1 from ${bench.log.args[2]}.work for update`)
            locked = true
          }
          await bench.write(ctx.tx, event.id)
        },
        own,
      )
      await postAll(inbox, [{ id: 'a' }])
      await inbox.start()
      // Rows that are recorded before it are locked too, and are not claimed.
      await until(() => locked, 'the row of the first event is locked')
      await postAll(
        inbox,
        ids(5).map((id) => ({ id })),
      )
      // With two places a third event begins only in the place of the first.
      if (overlaps) await until(() => begun.length >= 3, 'further events begin')
      else {
        await setTimeout(300)
        expect(begun).toEqual(['a'])
      }
      await locker.query('rollback')
      await locker.end()
      await until(async () => (await bench.log.effects()).length === 6, 'all are handled')
    },
  )
})
