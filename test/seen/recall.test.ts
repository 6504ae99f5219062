/** `seen` answers duplicates as the log would, and asks the log whenever it cannot be sure. */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  HookonceError,
  type InboxOptions,
  lru,
  type Seen,
  type SeenEntry,
  type SeenKey,
  silentLog,
} from 'hookonce'
import { unverified } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { SeenCache } from '../../dist/seen/cache.js'
import { type Bench, onBothLogs, post, shop, until } from '../support/processing.js'

/** An inbox on a store that says how often it was asked to record. */
function counting(bench: Bench, options: Partial<InboxOptions> = {}) {
  const store = bench.store()
  let records = 0
  const { inbox, lines } = bench.inbox({
    seen: lru(),
    ...options,
    store: {
      ...store,
      record(deliveries) {
        records++
        return store.record(deliveries)
      },
    },
  })
  return { inbox, lines, store, records: () => records }
}

/** A clock that only the test moves. */
function handClock() {
  const startedAt = Date.now()
  let offsetMs = 0
  return {
    now: () => startedAt + offsetMs,
    advance(ms: number) {
      offsetMs += ms
    },
  }
}

onBothLogs((bench) => {
  test('a duplicate of a finished event is answered without the store, and counted in the log', async () => {
    const { inbox, records } = counting(bench)
    inbox.on('shop', '*', async () => {})
    await inbox.start()
    expect((await post(inbox, { id: 'a' })).status).toBe('accepted')
    await until(
      async () => (await post(inbox, { id: 'a' })).status === 'already_processed',
      'it has finished',
    )
    const before = { records: records(), hits: wholeInbox(inbox).counters.seen!.hits }
    for (let i = 0; i < 10; i++) {
      expect(await post(inbox, { id: 'a' })).toMatchObject({
        httpStatus: 200,
        status: 'already_processed',
        eventId: 'a',
        duplicate: true,
      })
    }
    expect(records()).toBe(before.records)
    expect(wholeInbox(inbox).counters.seen!.hits).toBe(before.hits + 10)
    const { duplicates } = wholeInbox(inbox).counters.of('shop')
    expect(await inbox.events.get({ source: 'shop', id: 'a' })).toMatchObject({
      deliveries: duplicates + 1,
    })
  })

  test('an event that has not finished is believed for a second, then the log is asked again', async () => {
    const clock = handClock()
    const { inbox, records } = counting(bench, { clock, processing: false })
    await inbox.start()
    await post(inbox, { id: 'a' })
    expect((await post(inbox, { id: 'a' })).status).toBe('already_received')
    expect(records()).toBe(1)
    clock.advance(1_500)
    expect((await post(inbox, { id: 'a' })).status).toBe('already_received')
    expect(records()).toBe(2)
    expect((await post(inbox, { id: 'a' })).status).toBe('already_received')
    expect(records()).toBe(2)
  })

  test('a finished event is confirmed by the log after a minute', async () => {
    const clock = handClock()
    const { inbox, records } = counting(bench, { clock })
    inbox.on('shop', '*', async () => {})
    await inbox.start()
    await post(inbox, { id: 'a' })
    await inbox.drain()
    await until(
      async () => (await post(inbox, { id: 'a' })).status === 'already_processed',
      'it has finished',
    )
    const before = records()
    clock.advance(61_000)
    expect((await post(inbox, { id: 'a' })).status).toBe('already_processed')
    expect(records()).toBe(before + 1)
  })

  test('other bytes under a known id go to the log, which finds the conflict', async () => {
    const { inbox } = counting(bench, { processing: false })
    await inbox.start()
    await post(inbox, { id: 'a', amount: 1 })
    await post(inbox, { id: 'a', amount: 2 })
    expect(wholeInbox(inbox).counters.of('shop')).toMatchObject({ duplicates: 1, conflicts: 1 })
    expect(wholeInbox(inbox).counters.seen).toMatchObject({ hits: 0 })
  })

  test('a replay in this process is known at once: the next duplicate is already_received', async () => {
    const { inbox } = counting(bench)
    inbox.on('shop', '*', async () => {})
    await inbox.start()
    await post(inbox, { id: 'a' })
    await until(
      async () => (await post(inbox, { id: 'a' })).status === 'already_processed',
      'it has finished',
    )
    await inbox.pause('shop')
    await inbox.replay({ source: 'shop', id: 'a' }, { force: true })
    expect((await post(inbox, { id: 'a' })).status).toBe('already_received')
    await inbox.resume('shop')
    await until(
      async () => (await post(inbox, { id: 'a' })).status === 'already_processed',
      'it has finished again',
    )
    // The same for an order on a filter.
    await inbox.pause('shop')
    expect(await inbox.replay({ source: 'shop' }, { force: true })).toMatchObject({ done: 1 })
    expect((await post(inbox, { id: 'a' })).status).toBe('already_received')
  })

  test('inline mode and rearm ask the log about everything that has not finished', async () => {
    const { inbox, records } = counting(bench, {
      sources: { inlined: shop({ mode: 'inline' }), rearming: shop({ rearm: true }) },
    })
    let fail = true
    const handler = async () => {
      if (fail) throw new Error('not today')
    }
    inbox.on('inlined', '*', handler, { retry: { maxAttempts: 1 } })
    inbox.on('rearming', '*', handler, { retry: { maxAttempts: 1 } })
    await inbox.start()
    expect((await post(inbox, { id: 'a' }, 'inlined')).status).toBe('failed')
    await post(inbox, { id: 'a' }, 'rearming')
    await until(
      async () => (await inbox.events.get({ source: 'rearming', id: 'a' }))?.state === 'failed',
      'it is a dead letter',
    )
    fail = false
    // The redelivery makes the event due. The worker of this inbox may be quicker than the delivery itself.
    const again = (await post(inbox, { id: 'a' }, 'inlined')).status
    expect(['processed', 'already_processed']).toContain(again)
    expect((await post(inbox, { id: 'a' }, 'rearming')).status).toBe('already_received')
    await until(
      async () => (await inbox.events.get({ source: 'rearming', id: 'a' }))?.state === 'succeeded',
      'the redelivery gave it a new start',
    )
    await until(async () => {
      const before = records()
      await post(inbox, { id: 'a' }, 'inlined')
      return records() === before
    }, 'what has finished is answered from memory')
  })

  test('a delivery with several events is answered from memory only when all of them are known', async () => {
    const pair = unverified({ each: 'events[]', id: 'json:id', type: 'json:type' })
    const { inbox, records } = counting(bench, {
      sources: { shop: pair },
      processing: false,
      clock: handClock(),
    })
    await inbox.start()
    const send = (...ids: string[]) =>
      inbox.receive('shop', {
        method: 'POST',
        url: 'http://x/webhooks/shop',
        headers: {},
        body: Buffer.from(JSON.stringify({ events: ids.map((id) => ({ id, type: 't' })) })),
      })
    await send('a', 'b')
    expect(await send('a', 'b')).toMatchObject({ duplicate: true, status: 'already_received' })
    expect(records()).toBe(1)
    expect(await send('a', 'b', 'c')).toMatchObject({ duplicate: false, status: 'accepted' })
    expect(records()).toBe(2)
  })

  test('a memory that fails, lies or forgets costs a look at the log and nothing else', async () => {
    const lies: Record<string, Seen['get']> = {
      throws: async () => {
        throw new Error('gone')
      },
      forgets: async (keys) => keys.map(() => null),
      'keeps what has expired': async (keys) => keys.map(() => entry({ expiresAt: 1 })),
      'has the hash of other bytes': async (keys) => keys.map(() => entry({ hash: new Uint8Array(32) })),
      'comes from the future': async (keys) => keys.map(() => entry({ confirmedAt: Date.now() + 60_000 })),
      'is short': async () => [],
    }
    for (const [name, get] of Object.entries(lies)) {
      const { inbox, records } = counting(bench, {
        seen: { name, get, put: async () => Promise.reject(new Error('gone')) },
        processing: false,
      })
      await inbox.start()
      expect((await post(inbox, { id: name })).status, name).toBe('accepted')
      expect((await post(inbox, { id: name })).status, name).toBe('already_received')
      expect(records(), name).toBe(2)
      await inbox.stop()
    }
  })

  test('a delivery whose commit failed is not known: its retry is recorded', async () => {
    const store = bench.store()
    let away = true
    const { inbox } = bench.inbox({
      seen: lru(),
      processing: false,
      store: {
        ...store,
        async record(deliveries) {
          if (away) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'away' })
          return store.record(deliveries)
        },
      },
    })
    await inbox.start()
    for (let i = 0; i < 3; i++) expect((await post(inbox, { id: 'a' })).httpStatus).toBe(503)
    away = false
    expect((await post(inbox, { id: 'a' })).status).toBe('accepted')
    expect((await inbox.events.get({ source: 'shop', id: 'a' }))?.state).toBe('pending')
  })

  test('two logs that share a memory do not answer for each other', async () => {
    const seen = lru()
    const asked: SeenKey[] = []
    const watched: Seen = {
      ...seen,
      get: (keys) => {
        asked.push(...keys)
        return seen.get(keys)
      },
    }
    const first = counting(bench, { seen: watched, processing: false })
    await first.inbox.start()
    await post(first.inbox, { id: 'a' })
    await bench.log.sql("delete from log.keys where key = 'hookonce:log-id'")
    const second = counting(bench, { seen: watched, processing: false })
    await second.inbox.start()
    await post(second.inbox, { id: 'a' })
    expect(second.records()).toBe(1)
    expect(new Set(asked.map((key) => key.log)).size).toBe(2)
  })
})

test('the log is named again for a delivery that comes later: its database may have been replaced', async () => {
  let server = 'first start'
  let reads = 0
  const cache = new SeenCache({
    seen: lru(),
    clock: { now: Date.now },
    log: silentLog,
    readLogId: async () => {
      reads++
      return server
    },
    repeated() {},
  })
  const burst = await Promise.all(Array.from({ length: 100 }, () => cache.logId()))
  expect(new Set(burst)).toEqual(new Set(['first start']))
  expect(reads).toBe(1)
  server = 'second start'
  // Quicker than any server can be stopped, replaced and started.
  await sleep(50)
  expect(await cache.logId()).toBe('second start')
})

test('an lru keeps the last ones used', async () => {
  const seen = lru(2)
  const key = (eventId: string): SeenKey => ({ log: 'l', source: 's', id: eventId })
  await seen.put([
    { key: key('a'), entry: entry() },
    { key: key('b'), entry: entry() },
  ])
  await seen.get([key('a')])
  await seen.put([{ key: key('c'), entry: entry() }])
  const found = await seen.get([key('a'), key('b'), key('c')])
  expect(found.map((one) => one !== null)).toEqual([true, false, true])
  await seen.put([{ key: key('a'), entry: null }])
  expect(await seen.get([key('a')])).toEqual([null])
  expect(() => lru(0)).toThrow('size')
})

function entry(changes: Partial<SeenEntry> = {}): SeenEntry {
  const now = Date.now()
  return {
    seq: 1,
    hash: new Uint8Array(32).fill(7),
    state: 'succeeded',
    confirmedAt: now,
    expiresAt: now + 1_000,
    ...changes,
  }
}
