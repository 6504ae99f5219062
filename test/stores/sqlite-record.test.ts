/** Record on SQLite: new events are inserted without a look-up first, and known events need neither lock nor room. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type SqliteOptions, sqlite } from 'hookonce/sqlite'
import type { CompleteStore, NewDelivery, NewEvent } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
let path: string
const stores: CompleteStore[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-record-'))
  path = join(folder, 'events.db')
})
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await rm(folder, { recursive: true, force: true })
})

async function open(options: SqliteOptions = {}): Promise<CompleteStore> {
  const store = sqlite(path, options)
  stores.push(store)
  await store.migrate()
  return store
}

const hash = (filler: number) => new Uint8Array(32).fill(filler)

function delivery(eventId: string, more: Partial<NewEvent> = {}, body = Buffer.from('{}')): NewDelivery {
  const event = { id: eventId, type: 'order.paid', reference: null, contentHash: null, guardHash: null }
  return {
    source: 'shop',
    headers: {},
    body,
    events: [{ ...event, ...more }],
    contentGuard: 'review',
  }
}

const statuses = async (recording: ReturnType<CompleteStore['record']>) =>
  (await recording).map((verdicts) => verdicts.map(({ status }) => status).join())

test('known events are answered while another program holds the write lock; a new one is STORE_BUSY', async () => {
  const store = await open({ busyTimeout: 50 })
  await store.record([delivery('a'), delivery('b')])
  const other = new DatabaseSync(path)
  try {
    other.exec('begin immediate')
    expect(await statuses(store.record([delivery('a'), delivery('b')]))).toEqual(['duplicate', 'duplicate'])
    const busy = { code: 'STORE_BUSY' }
    await expect(store.record([delivery('a'), delivery('c')])).rejects.toMatchObject(busy)
    other.exec('rollback')
    expect(await statuses(store.record([delivery('a'), delivery('c')]))).toEqual(['duplicate', 'recorded'])
  } finally {
    other.close()
  }
})

test('known events are answered when the log has no room for new ones', async () => {
  const store = await open({ maxBytes: 600_000 })
  await store.record([delivery('a')])
  const large = (i: number) => delivery(`large-${i}`, {}, Buffer.alloc(100_000))
  const fill = async () => {
    for (let i = 0; i < 20; i++) await store.record([large(i)])
  }
  await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL' })
  expect(await statuses(store.record([delivery('a'), large(0)]))).toEqual(['duplicate', 'duplicate'])
  await expect(store.record([delivery('a'), large(30)])).rejects.toMatchObject({ code: 'STORE_FULL' })
})

test('a call that mixes plain and other deliveries gives each event one row in work and one payload', async () => {
  const store = await open()
  const pair: NewDelivery = {
    ...delivery('pair-1'),
    events: [delivery('pair-1').events[0]!, delivery('pair-2').events[0]!],
  }
  const verdicts = await store.record([
    delivery('plain-1'),
    delivery('plain-1'),
    delivery('guarded', { contentHash: hash(1), guardHash: hash(1) }),
    delivery('replayed', { contentHash: hash(1), guardHash: hash(1) }),
    delivery('plain-2'),
    pair,
    delivery('lane-1', { lane: 'l' }),
    delivery('plain-3'),
    delivery('lane-2', { lane: 'l' }),
    delivery('plain-2'),
  ])
  const firstOf = { status: 'duplicate', state: 'pending', final: false, equal: true }
  expect(verdicts.map(([verdict]) => verdict)).toMatchObject([
    { status: 'recorded' },
    firstOf,
    { status: 'recorded', state: 'pending' },
    { status: 'recorded', state: 'ignored', sameAs: 'guarded' },
    { status: 'recorded' },
    { status: 'recorded' },
    { status: 'recorded' },
    { status: 'recorded' },
    { status: 'recorded' },
    firstOf,
  ])
  const claimed = await store.claim({ worker: 'w', limit: 50, leaseMs: 1_000 })
  expect(claimed.map(({ id }) => id).sort()).toEqual(
    ['guarded', 'lane-1', 'pair-1', 'pair-2', 'plain-1', 'plain-2', 'plain-3'].sort(),
  )
  expect(claimed.every(({ body }) => body?.byteLength === 2)).toBe(true)
  expect(await store.stats()).toMatchObject([{ source: 'shop', ignored: 1 }])
})

test('a delivery that the file refuses leaves its neighbours recorded and due', async () => {
  const store = await open()
  const other = new DatabaseSync(path)
  other.exec(`create trigger refuse_bad before insert on hookonce_work
    when new.seq = (select seq from hookonce_events where event_id = 'bad') begin select raise(abort, 'bad'); end`)
  other.close()
  const call = [delivery('a'), delivery('bad'), delivery('b')]
  expect(await statuses(store.record(call))).toEqual(['recorded', 'refused', 'recorded'])
  const claimed = await store.claim({ worker: 'w', limit: 10, leaseMs: 1_000 })
  expect(claimed.map(({ id }) => id)).toEqual(['a', 'b'])
})
