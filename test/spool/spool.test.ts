/** What the spool takes, refuses, keeps aside and tells about itself. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type EventPage, HookonceError, type Inbox, type InboxOptions, type Store } from 'hookonce'
import { sqlite } from 'hookonce/sqlite'
import type { RecordVerdict } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox } from '../support/inboxes.js'
import { post, shop, until } from '../support/processing.js'

const HOUR_MS = 60 * 60 * 1_000
let folder: string
let path: string
let away: boolean
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-spool-'))
  path = join(folder, 'spool.db')
  away = true
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await rm(folder, { recursive: true, force: true })
})

type Judge = (verdicts: RecordVerdict[][]) => RecordVerdict[][] | Promise<RecordVerdict[][]>

function make(options: Partial<InboxOptions> = {}, judge: Judge = (verdicts) => verdicts) {
  const real = sqlite(join(folder, 'events.db'))
  const refuse = () => {
    if (away) throw new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
  }
  const store: Store = {
    ...real,
    async record(deliveries) {
      refuse()
      return judge(await real.record(deliveries))
    },
    async stats() {
      refuse()
      return real.stats()
    },
  }
  const made = loggedInbox({ sources: { shop: shop() }, spool: { path }, ...options, store })
  closing.push(
    () => real.close(),
    () => made.inbox.stop(),
  )
  return { ...made, real }
}

const empty = (inbox: Inbox) =>
  until(async () => (await inbox.spool!.status()).depth === 0, 'the spool is empty')

test('an inbox without a spool has none', () => {
  expect(wholeInbox(make({ spool: undefined } as never).inbox).spool).toBeNull()
})

test('it says what waits, how many bytes, since when, and why', async () => {
  let now = 1_700_000_000_123
  const { inbox } = make({ clock: { now: () => now } })
  await post(inbox, { id: 'a' })
  const status = await inbox.spool!.status()
  expect(status).toMatchObject({
    depth: 1,
    maxBytes: 256 * 1024 * 1024,
    oldestAt: 1_700_000_000_123,
    setAside: 0,
    storeAway: true,
    lastError: expect.stringContaining('told so'),
  })
  expect(status.bytes).toBeGreaterThan(30)
  expect(wholeInbox(inbox).counters.commits).toBe(0)
  now += HOUR_MS
  away = false
  await empty(inbox)
  await until(async () => (await inbox.spool!.status()).lastError === null, 'the error is history')
  expect(await inbox.spool!.status()).toMatchObject({
    bytes: 0,
    oldestAt: null,
    storeAway: false,
  })
  // It arrived when it was spooled, not when it was drained: an hour ago by the clock of the store.
  const { receivedAt } = (await inbox.events.get({ source: 'shop', id: 'a' }))!
  const agoMs = Date.now() - receivedAt
  expect(agoMs).toBeGreaterThanOrEqual(HOUR_MS)
  expect(agoMs).toBeLessThan(2 * HOUR_MS)
})

test('bytes and headers come out as they went in', async () => {
  const { inbox, real } = make()
  const body = Buffer.concat([Buffer.from('{"id":"a","type":"t","x":"é\\u0000 "}'), Buffer.from('  \n')])
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1', authorization: 'secret' }
  await inbox.receive('shop', { method: 'POST', url: 'http://x/webhooks/shop', headers, body })
  away = false
  await empty(inbox)
  const payload = await real.inspect.payload({ source: 'shop', id: 'a' })
  expect(Buffer.from(payload!.body)).toEqual(body)
  expect(payload!.headers).toEqual({ 'content-type': 'application/json', 'x-request-id': 'r-1' })
})

test('the same event twice in the spool is answered twice and recorded once', async () => {
  const { inbox } = make()
  for (const _ of [1, 2]) {
    expect(await post(inbox, { id: 'a' })).toMatchObject({
      httpStatus: 202,
      status: 'spooled',
      duplicate: false,
    })
  }
  away = false
  await empty(inbox)
  expect(await inbox.events.get({ source: 'shop', id: 'a' })).toMatchObject({ deliveries: 2 })
  await until(() => wholeInbox(inbox).counters.of('shop').duplicates === 1, 'it is counted')
  expect(wholeInbox(inbox).counters.of('shop')).toMatchObject({
    received: 2,
    spooled: 2,
    recorded: 1,
    duplicates: 1,
  })
})

test('a conflict that is found at the drain is counted and logged', async () => {
  const { inbox, lines } = make()
  await post(inbox, { id: 'a', amount: 1 })
  await post(inbox, { id: 'a', amount: 2 })
  away = false
  await empty(inbox)
  await until(() => wholeInbox(inbox).counters.of('shop').conflicts === 1, 'it is counted')
  expect(lines.filter((line) => line.reason === 'conflict')).toMatchObject([{ eventId: 'a', source: 'shop' }])
})

test('beyond its bytes the answer is 503, and there is room again after the drain', async () => {
  const { inbox } = make({ spool: { path, maxBytes: 2_000 } })
  const big = 'x'.repeat(700)
  expect((await post(inbox, { id: 'a', big })).status).toBe('spooled')
  expect((await post(inbox, { id: 'b', big })).status).toBe('spooled')
  const refused = await post(inbox, { id: 'c', big })
  expect(refused).toMatchObject({ httpStatus: 503, status: 'unavailable', reason: 'SPOOL_FULL' })
  expect(refused.headers['retry-after']).toBeDefined()
  expect(await inbox.spool!.status()).toMatchObject({ depth: 2 })
  away = false
  await empty(inbox)
  away = true
  expect((await post(inbox, { id: 'c', big })).status).toBe('spooled')
  away = false
  await empty(inbox)
  for (const eventId of ['a', 'b', 'c'])
    expect(await inbox.events.get({ source: 'shop', id: eventId })).not.toBeNull()
})

test('a delivery that the store refuses is kept aside, and does not hold up the others', async () => {
  let refusing = true
  const { inbox, lines } = make({}, (verdicts) =>
    verdicts.map((events, i) =>
      refusing && (i === 1 || events[0]!.status === 'duplicate')
        ? [{ status: 'refused', code: 'EVENT_REFUSED', detail: 'a limit of the store' }]
        : events,
    ),
  )
  await post(inbox, { id: 'first' })
  for (const id of ['a', 'b', 'c']) await post(inbox, { id })
  away = false
  await empty(inbox)
  const status = await inbox.spool!.status()
  expect(status).toMatchObject({ depth: 0, setAside: 1 })
  expect(status.bytes).toBeGreaterThan(0)
  expect(lines.find((line) => line.code === 'EVENT_REFUSED')).toMatchObject({
    source: 'shop',
    level: 'error',
  })
  refusing = false
  expect(await inbox.spool!.retrySetAside()).toBe(1)
  await until(async () => (await inbox.spool!.status()).setAside === 0, 'it is recorded')
  expect(await inbox.spool!.status()).toMatchObject({ bytes: 0 })
})

test('a source in inline mode is answered as spooled, and handled after the drain', async () => {
  const { inbox } = make({ sources: { shop: shop({ mode: 'inline' }) } })
  const handled: string[] = []
  inbox.on('shop', '*', async (event) => void handled.push(event.id))
  await inbox.start()
  expect(await post(inbox, { id: 'a' })).toMatchObject({ httpStatus: 202, status: 'spooled' })
  expect(handled).toEqual([])
  away = false
  await until(() => handled.length === 1, 'it is handled')
})

test('a source in inline mode is not acknowledged by the spool where no worker runs; the next delivery is handled', async () => {
  const { inbox, lines } = make({ sources: { shop: shop({ mode: 'inline' }) } })
  const handled: string[] = []
  inbox.on('shop', '*', async (event) => void handled.push(event.id))
  const receipt = await post(inbox, { id: 'a' })
  expect(receipt).toMatchObject({ httpStatus: 503, status: 'unavailable', eventId: 'a' })
  expect(receipt.headers).toHaveProperty('retry-after')
  // It is durable, so it counts as spooled and no line says that it was rejected.
  const { spooled, rejected } = wholeInbox(inbox).counters.of('shop')
  expect([spooled, { ...rejected }]).toEqual([1, { not_handled: 1 }])
  expect(lines.map(({ msg }) => msg)).not.toContain('delivery rejected')
  away = false
  await empty(inbox)
  expect(await post(inbox, { id: 'a' })).toMatchObject({ httpStatus: 200, status: 'processed' })
  expect(handled).toEqual(['a'])
})

test('payloads that are encrypted in the log are encrypted in the spool', async () => {
  const encryption = { current: 'k1', keys: { k1: Buffer.alloc(32, 7) } }
  const { inbox } = make({ encryption })
  await post(inbox, { id: 'a', name: 'Ada Lovelace' })
  const bytes = Buffer.concat([await readFile(path), await readFile(`${path}-wal`)])
  expect(bytes.includes('Ada Lovelace')).toBe(false)
  away = false
  await empty(inbox)
  const payload = await inbox.events.payload({ source: 'shop', id: 'a' })
  expect(Buffer.from(payload!.body).toString()).toContain('Ada Lovelace')
})

test('a spooled delivery that is not encrypted is kept aside where encryption is required', async () => {
  const { inbox: plain } = make()
  await post(plain, { id: 'a' })
  await plain.stop()
  const encryption = { current: 'k1', keys: { k1: Buffer.alloc(32, 7) }, required: true }
  const { inbox, real } = make({ encryption })
  await post(inbox, { id: 'b', name: 'Ada Lovelace' })
  away = false
  await empty(inbox)
  expect(await inbox.spool!.status()).toMatchObject({ setAside: 1 })
  expect(await real.get({ source: 'shop', id: 'a' })).toBeNull()
  const payload = await inbox.events.payload({ source: 'shop', id: 'b' })
  expect(Buffer.from(payload!.body).toString()).toContain('Ada Lovelace')
})

test('bodies that were swapped in the spool are not handed out', async () => {
  const encryption = { current: 'k1', keys: { k1: Buffer.alloc(32, 7) } }
  const { inbox } = make({ encryption })
  const receipts = [await post(inbox, { id: 'a', n: 1 }), await post(inbox, { id: 'b', n: 1 })]
  expect(receipts.map((one) => one.status)).toEqual(['spooled', 'spooled'])
  await inbox.stop()
  const file = new DatabaseSync(path)
  file.exec('pragma busy_timeout = 10000')
  const [one, two] = file.prepare('select id, block from spooled order by id').all() as {
    id: number
    block: Uint8Array
  }[]
  const headOf = (block: Uint8Array) => 4 + Buffer.from(block).readUInt32BE(0)
  const crossed = (head: Uint8Array, body: Uint8Array) =>
    Buffer.concat([head.subarray(0, headOf(head)), body.subarray(headOf(body))])
  const update = file.prepare('update spooled set block = ? where id = ?')
  update.run(crossed(one!.block, two!.block), one!.id)
  update.run(crossed(two!.block, one!.block), two!.id)
  file.close()
  away = false
  const { inbox: next } = make({ encryption })
  const handled: string[] = []
  next.on('shop', '*', (event) => void handled.push(event.id))
  await post(next, { id: 'c' })
  await empty(next)
  for (const eventId of ['a', 'b'])
    await expect(next.events.payload({ source: 'shop', id: eventId })).rejects.toMatchObject({
      code: 'ENCRYPTION_MISPLACED',
    })
  await next.drain()
  expect(handled).toEqual(['c'])
})

test('a spool that cannot be written is a 503 with its name', async () => {
  const { inbox } = make({ spool: { path: join('/dev/null', 'spool.db') } })
  expect(await post(inbox, { id: 'a' })).toMatchObject({ httpStatus: 503, reason: 'SPOOL_FAILED' })
  away = false
  // It does not stand in the way of a store that can be reached.
  await until(async () => (await post(inbox, { id: 'a' })).httpStatus === 200, 'it is recorded')
})

test('deliveries behind a short tail wait for it and then go to the log, however many keep coming', async () => {
  // So slow that there is always something in the spool, if what comes meanwhile is put there.
  const { inbox, real } = make({}, async (verdicts) => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    return verdicts
  })
  for (let i = 0; i < 20; i++) await post(inbox, { id: `a${i}` })
  away = false
  const statuses: string[] = []
  let n = 0
  let enough = false
  const sending = Array.from({ length: 8 }, async () => {
    while (!enough) statuses.push((await post(inbox, { id: `b${n++}` })).status)
  })
  await until(
    () => statuses.slice(-100).filter((status) => status === 'accepted').length === 100,
    'the spool is left behind',
  ).finally(() => {
    enough = true
  })
  await Promise.all(sending)
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const page: EventPage = await real.list({ source: 'shop' }, { limit: 500, cursor })
    found.unshift(...page.events.map((event) => event.id).reverse())
    cursor = page.next
    if (cursor === null) break
  }
  expect(found.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => `a${i}`))
  expect(found).toHaveLength(20 + n)
})

test('behind spooled deliveries of its source a delivery is spooled in time, however short recordTimeout is', async () => {
  const first = make()
  await post(first.inbox, { id: 'a' })
  await first.inbox.stop()
  away = false
  // The store takes no delivery and is not known to be away: the drain waits for it.
  const options = {
    limits: { recordTimeout: 4_000 },
    // Little of the time is spent on purpose, because writing to the file takes long on a busy machine.
    spool: { path, after: 50 },
    processing: false,
  } as const
  const { inbox } = make(options, () => new Promise(() => {}))
  const receipts = await Promise.all([post(inbox, { id: 'b' }), post(inbox, { id: 'c' })])
  expect(receipts.map(({ status }) => status)).toEqual(['spooled', 'spooled'])
})

test('options that make no sense are refused', () => {
  expect(() => make({ spool: { path: ':memory:' } })).toThrow('spool.path')
  expect(() => make({ spool: { path, maxBytes: 0 } })).toThrow('spool.maxBytes')
  expect(() => make({ spool: { path, maxByte: 1 } as never })).toThrow('spool.maxByte')
})

test('a spool whose file could not be written has room again when it can be written', async () => {
  const blocked = join(folder, 'blocked')
  await writeFile(blocked, 'a file where the folder should be')
  const { inbox } = make({ spool: { path: join(blocked, 'spool.db') } })
  expect((await post(inbox, { id: 'a' })).httpStatus).toBe(503)
  await rm(blocked)
  expect(await inbox.spool!.hasRoom()).toBe(true)
})
