/** The clock of a log on SQLite: it is the host's, but it never runs backwards and never stands still. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'hookonce/sqlite'
import type { CompleteStore } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startChild } from '../support/child.js'
import { onLog, post, stateOf, until } from '../support/processing.js'

const HOUR = 3_600_000
const START = 1_800_000_000_000
const key = { source: 'shop', id: 'e1' }

let folder: string
let wallMs: number
let steadyMs: number
const stores: CompleteStore[] = []

/** Time passes. */
function pass(ms: number): void {
  wallMs += ms
  steadyMs += ms
}

/** Somebody sets the clock of the host. */
function jump(ms: number): void {
  wallMs += ms
}

async function open(): Promise<CompleteStore> {
  const clock = { now: () => wallMs, steady: () => steadyMs }
  const store = sqlite(join(folder, 'events.db'), { clock })
  stores.push(store)
  await store.migrate()
  return store
}

async function record(store: CompleteStore, eventId = 'e1'): Promise<void> {
  const event = { id: eventId, type: 'paid', reference: null, contentHash: null, guardHash: null }
  await store.record([
    { source: 'shop', headers: {}, body: new Uint8Array(1), events: [event], contentGuard: 'review' },
  ])
}

const claim = (store: CompleteStore, leaseMs = 30_000) => store.claim({ worker: 'w', limit: 10, leaseMs })
const idsOf = (claimed: readonly { readonly id: string }[]) => claimed.map((one) => one.id)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-clock-'))
  wallMs = START
  steadyMs = 0
})
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await rm(folder, { recursive: true, force: true })
})

test('an event recorded before the clock was set back an hour is due at once', async () => {
  const store = await open()
  await record(store)
  jump(-HOUR)
  pass(10)
  expect((await store.stats())[0]?.oldestDueAt).toBe(START)
  expect(idsOf(await claim(store))).toEqual(['e1'])
})

test('the same in a process that was started after the clock was set back', async () => {
  const before = await open()
  await record(before)
  await before.close()
  jump(-HOUR)
  const store = await open()
  expect((await store.stats())[0]?.oldestDueAt).toBe(START)
  expect(idsOf(await claim(store))).toEqual(['e1'])
})

test('an event recorded after the clock was set back comes after those recorded before', async () => {
  const store = await open()
  await record(store, 'first')
  jump(-HOUR)
  pass(500)
  await record(store, 'second')
  const first = await store.get({ source: 'shop', id: 'first' })
  const second = await store.get({ source: 'shop', id: 'second' })
  expect(second!.receivedAt).toBeGreaterThan(first!.receivedAt)
  expect(idsOf(await claim(store))).toEqual(['first', 'second'])
})

test('a lease runs out in its own time when the clock is set back under it', async () => {
  const store = await open()
  const other = await open()
  await record(store)
  await record(store, 'e2')
  const [held, silent] = await claim(store)
  jump(-HOUR)
  pass(20_000)
  expect(await claim(other)).toEqual([])
  expect(await store.extend([held!.lease], 30_000)).toEqual([true])
  pass(20_000)
  expect(idsOf(await claim(other)), 'the other one was extended').toEqual(['e2'])
  expect(await store.extend([silent!.lease, held!.lease], 30_000)).toEqual([false, true])
})

test('retries and delays written while the clock was an hour ahead come due in their time', async () => {
  const store = await open()
  await record(store)
  jump(HOUR)
  await record(store, 'e2')
  const [one, two] = await claim(store)
  await store.settle([
    { lease: one!.lease, outcome: { kind: 'failed', error: 'no', retryInMs: 60_000 }, durationMs: 1 },
  ])
  await store.release([two!.lease], 60_000)
  jump(-HOUR)
  pass(50_000)
  expect(await claim(store)).toEqual([])
  pass(20_000)
  expect(idsOf(await claim(store)).sort()).toEqual(['e1', 'e2'])
})

test('of two processes the one that never saw the clock ahead takes over what the other wrote then', async () => {
  const glimpsed = await open()
  const store = await open()
  await record(store)
  jump(HOUR)
  const [held] = await claim(glimpsed)
  await glimpsed.settle([
    { lease: held!.lease, outcome: { kind: 'failed', error: 'no', retryInMs: 1_000 }, durationMs: 1 },
  ])
  await glimpsed.close()
  jump(-HOUR)
  expect(await claim(store)).toEqual([])
  pass(2_000)
  expect(idsOf(await claim(store))).toEqual(['e1'])
})

test('a log that is ahead of its host comes back to it slowly, and never by a step back', async () => {
  const store = await open()
  jump(HOUR)
  await record(store)
  jump(-HOUR)
  let last = START + HOUR
  for (let hour = 0; hour < 11; hour++) {
    pass(HOUR)
    const { now } = await store.inspect.report()
    expect(now).toBeGreaterThan(last)
    last = now
  }
  expect(last).toBe(wallMs)
})

test('ages are counted from the clock of the host: a clock that was ahead removes nothing early', async () => {
  const store = await open()
  jump(100 * 24 * HOUR)
  await record(store)
  jump(-100 * 24 * HOUR)
  await record(store, 'e2')
  expect((await store.retention.maintain({ payloadsBefore: {} })).now).toBe(wallMs)
})

test('keys of inbox.once are free again in their own time', async () => {
  const store = await open()
  await store.keys.key({ step: 'take', key: 'k', leaseMs: 1_000 })
  jump(-HOUR)
  pass(500)
  expect((await store.keys.key({ step: 'take', key: 'k', leaseMs: 1_000 })).state).toBe('busy')
  pass(1_000)
  expect((await store.keys.key({ step: 'take', key: 'k', leaseMs: 1_000 })).state).toBe('taken')
})

onLog('SQLite', (bench) => {
  test('a process whose clock is an hour behind handles at once what another recorded', async () => {
    const { inbox } = bench.inbox({ processing: false })
    await post(inbox, { id: 'e1' })
    const told = JSON.stringify({ clockMs: -HOUR })
    const child = startChild('./processing-child.mjs', [told, bench.log.insertEffect, ...bench.log.args])
    try {
      await until(async () => (await stateOf(inbox, 'e1')) === 'succeeded', 'it is handled')
      expect(await bench.log.effects()).toEqual(['e1'])
      const event = await inbox.events.get(key)
      expect(event!.processedAt).toBeGreaterThanOrEqual(event!.receivedAt)
    } finally {
      await child.kill()
    }
  })
})
