/** A deploy that adds a handler: processes with and without it run side by side on one log. */

import type { SourceStats, Store } from 'hookonce'
import { afterEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { type Child, startChild } from '../support/child.js'
import {
  type Bench,
  ids,
  onBothLogs,
  post,
  postAll,
  shop,
  signal,
  stateOf,
  until,
} from '../support/processing.js'

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()))
})

/** A process that handles these types, when it has started. */
async function processOf(bench: Bench, types: readonly string[]): Promise<Child> {
  const { insertEffect, args } = bench.log
  const child = startChild('handling-child.mjs', [JSON.stringify(types), insertEffect, ...args])
  children.push(child)
  await child.said(1)
  return child
}

const review = { state: 'ignored', reason: 'unhandled' } as const

onBothLogs((bench) => {
  test('a process that lacks a handler leaves its events to the processes that have it: each is handled once', async () => {
    const { inbox } = bench.inbox({ processing: false })
    await wholeInbox(inbox).store()
    await Promise.all([
      processOf(bench, ['order.paid']),
      processOf(bench, ['order.paid']),
      processOf(bench, ['order.paid', 'order.refunded']),
    ])
    const refunds = ids(100, 'refund')
    const payments = ids(100, 'payment')
    for (let i = 0; i < 100; i += 10)
      await postAll(inbox, [
        ...refunds.slice(i, i + 10).map((id) => ({ id, type: 'order.refunded' })),
        ...payments.slice(i, i + 10).map((id) => ({ id, type: 'order.paid' })),
      ])
    const finished = async () => {
      const [{ succeeded, ignored, dead }] = (await inbox.events.stats()) as [SourceStats]
      return succeeded + ignored + dead === 200
    }
    await until(finished, 'all events are finished')
    expect((await inbox.events.list(review)).events).toEqual([])
    expect((await bench.log.effects()).sort()).toEqual([...refunds, ...payments].sort())
    const { events } = await inbox.events.list({ source: 'shop' }, { limit: 200 })
    expect(events.filter(({ attempts }) => attempts !== 1)).toEqual([])
  })

  test('an event is ignored as unhandled once the last process that handles it has stopped', async () => {
    const { inbox, lines } = bench.inbox()
    inbox.on('shop', 'order.paid', () => {})
    const child = await processOf(bench, ['order.refunded'])
    child.tell('stop')
    expect(await child.ended()).toBe(0)
    await inbox.start()
    await post(inbox, { id: 'e1', type: 'order.refunded' })
    await until(async () => (await stateOf(inbox, 'e1')) === 'ignored', 'it is ignored')
    // The process learns of the commit a little later than a reader of the log may.
    await until(() => wholeInbox(inbox).counters.of('shop').reviewed === 1, 'it is counted')
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', source: 'shop', type: 'order.refunded', reason: 'unhandled' }),
    )
  })

  test('a stop releases an event without a handler, although an event of another process is still being released', async () => {
    const store = bench.store()
    const { inbox: receiver } = bench.inbox({ processing: false })
    await postAll(receiver, [
      { id: 'elsewhere', type: 'order.refunded' },
      { id: 'nowhere', type: 'order.unknown' },
    ])
    const other = { id: 'other', version: '1', node: '20', host: 'here', pid: 1, worker: 'other' }
    await store.history.add({
      counts: [],
      process: { ...other, handles: [{ source: 'shop', pattern: 'order.refunded' }] },
    })
    const releasing = signal()
    const goOn = signal()
    const slow: Store = {
      ...store,
      async release(leases, delayMs) {
        releasing.give()
        await goOn.wait
        return store.release(leases, delayMs)
      },
    }
    const { inbox } = bench.inbox({ store: slow })
    inbox.on('shop', 'order.paid', () => {})
    await inbox.start()
    await releasing.wait
    const stopped = inbox.stop()
    setTimeout(goOn.give, 300) // the stop has reached the processor
    await stopped
    expect(await stateOf(receiver, 'nowhere')).toBe('pending')
    expect(await stateOf(receiver, 'elsewhere')).toBe('pending')
  })

  test('a handler that is added to a running inbox is known to the others at once', async () => {
    const { inbox: old } = bench.inbox()
    const { inbox: next } = bench.inbox()
    old.on('shop', 'order.paid', () => {})
    next.on('shop', 'order.paid', () => {})
    await next.start()
    const handled: string[] = []
    next.on('shop', 'order.refunded', (event) => void handled.push(event.id))
    await until(
      async () =>
        (await (await wholeInbox(old).store()).history!.handled()).some(
          ({ pattern }) => pattern === 'order.refunded',
        ),
      'it is published',
    )
    await old.start()
    await postAll(
      old,
      ids(20).map((id) => ({ id, type: 'order.refunded' })),
    )
    await until(() => handled.length === 20, 'all are handled')
    expect((await old.events.list(review)).events).toEqual([])
  })

  test('a source is left alone by a process without any handler for it', async () => {
    const sources = { shop: shop(), desk: shop() }
    const { inbox: first } = bench.inbox({ sources })
    first.on('shop', '*', () => {})
    await first.start()
    await post(first, { id: 'e1' }, 'desk')
    await post(first, { id: 'e1' })
    await until(async () => (await stateOf(first, 'e1')) === 'succeeded', 'the other source is handled')
    expect(await stateOf(first, 'e1', 'desk')).toBe('pending')
    const { inbox: second } = bench.inbox({ sources })
    second.on('desk', '*', () => {})
    await second.start()
    await until(async () => (await stateOf(first, 'e1', 'desk')) === 'succeeded', 'it is handled')
  })

  test('an inline event of a process without a worker is acknowledged while another process handles its source', async () => {
    const sources = { shop: shop({ mode: 'inline' }) }
    const { inbox } = bench.inbox({ sources, processing: false })
    expect(await post(inbox, { id: 'e1' })).toMatchObject({ httpStatus: 503, status: 'unavailable' })
    await processOf(bench, ['*'])
    expect(await post(inbox, { id: 'e2' })).toMatchObject({ httpStatus: 200 })
    await until(async () => (await stateOf(inbox, 'e2')) === 'succeeded', 'it is handled')
  })
})
