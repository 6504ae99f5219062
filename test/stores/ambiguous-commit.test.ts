/** The line breaks when the server has committed and the store has not heard of it. */

import { randomUUID } from 'node:crypto'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { delivery } from '../support/delivery.js'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { signal } from '../support/processing.js'
import { startProxy, type TestProxy } from '../support/proxy.js'

const inLane = (id: string) => {
  const plain = delivery(id)
  return { ...plain, events: plain.events.map((one) => ({ ...one, lane: 'lane' })) }
}

let log: SharedLog
let proxy: TestProxy
let store: ReturnType<typeof postgres>

beforeEach(async () => {
  log = await postgresLog()
  proxy = await startProxy(log.args[1]!)
  store = postgres({ url: proxy.url, schema: log.args[2]! })
  // The notification of a record is sent after it, on another connection. It must not be the exchange that is cut.
  const other = log.open()
  const notified = signal()
  await other.subscribe(notified.give)
  await store.record([delivery('warm up')])
  await notified.wait
  // That connection may still be in use. This statement finds it free, or leaves a second one behind that is.
  await store.claim({ worker: 'w', limit: 1, leaseMs: 1_000, sources: ['nobody'] })
  await other.close()
})
afterEach(async () => {
  await store.close()
  await proxy.close()
  await log.remove()
})

describe.each(['request', 'answer'] as const)('when the %s of a record is lost', (what) => {
  test('the verdict is still the true one, and there is one row', async () => {
    const cut = proxy.cutNext(what)
    const verdicts = await store.record([delivery('warm up'), delivery('new'), delivery('new')])
    await cut
    expect(verdicts.flat().map((verdict) => verdict.status)).toEqual(['duplicate', 'recorded', 'duplicate'])
    await store.duplicates.flush()
    const { events } = await store.list({})
    expect(events.map((event) => [event.id, event.deliveries])).toEqual([
      ['new', 2],
      ['warm up', 2],
    ])
  })

  test('the leases of the record are found, also of an event with a lane', async () => {
    const deliveries = [delivery('plain'), inLane('ordered'), inLane('behind')]
    const tokens = new Map(deliveries.flatMap(({ events }) => events.map((one) => [one, randomUUID()])))
    const cut = proxy.cutNext(what)
    const verdicts = await store.record(deliveries, { worker: 'w', leaseMs: 60_000, tokens })
    await cut
    const leases = verdicts.flat().flatMap((verdict, i) => {
      if (verdict.status !== 'recorded') throw new Error(`${verdict.status}`)
      return verdict.leasedAt ? [{ seq: verdict.seq, token: tokens.get(deliveries[i]!.events[0]!)! }] : []
    })
    expect(leases.length).toBe(2)
    const settlements = leases.map((lease) => {
      return { lease, outcome: { kind: 'succeeded' }, durationMs: 1 } as const
    })
    expect(await store.settle(settlements)).toEqual([true, true])
  })

  test('it stays true for many writers of the same events', async () => {
    const cut = proxy.cutNext(what)
    const ids = Array.from({ length: 20 }, (_, i) => `e${i}`)
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.record(ids.map(delivery))))
    await cut
    for (const [i, id] of ids.entries()) {
      const recorded = answers.filter((answer) => answer[i]?.[0]?.status === 'recorded')
      expect([id, recorded.length]).toEqual([id, 1])
    }
  })
})

test('when the answer to the commit of a handler is lost, the commit is unknown and the log tells', async () => {
  const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
  const transaction = await store.transaction()
  const tx: PostgresTx = transaction.tx
  await tx.query(log.insertEffect, ['paid'])
  const settlement = { lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 } as const
  expect(await transaction.settle([settlement])).toEqual([true])
  const cut = proxy.cutNext('answer')
  await expect(transaction.commit()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  await cut
  expect((await store.get({ source: 'shop', id: 'warm up' }))?.state).toBe('succeeded')
  expect(await log.effects()).toEqual(['paid'])
})

test('when the commit of a handler never reaches the server, the commit is unknown and nothing is written', async () => {
  const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
  const transaction = await store.transaction()
  await transaction.tx.query(log.insertEffect, ['paid'])
  const settlement = { lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 } as const
  expect(await transaction.settle([settlement])).toEqual([true])
  const cut = proxy.cutNext('request')
  await expect(transaction.commit()).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  await cut
  expect((await store.get({ source: 'shop', id: 'warm up' }))?.state).toBe('processing')
  expect(await log.effects()).toEqual([])
})

test('a server that cannot be reached is STORE_UNAVAILABLE', async () => {
  await proxy.close()
  await expect(store.record([delivery('new')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  proxy = await startProxy(log.args[1]!)
})
