/**
 * Logs that earlier versions wrote are opened by this one: nothing in them is lost, and their due events are processed.
 * `test/fixtures/write-log.mjs` wrote them: schema 4 is that of the first release, schema 10 that of later 0.1.0 logs.
 */
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Attempt, Audit, CompleteStore, EventRecord, Inbox, NewDelivery, SourceStats } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { unverified } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase, once } from '../support/database.js'
import { loggedInbox } from '../support/inboxes.js'

/** The log as the version that wrote it read it. */
interface Written {
  readonly events: readonly {
    readonly event: EventRecord
    readonly payload: { readonly body: string } | null
    readonly attempts: readonly Attempt[]
  }[]
  readonly audits: readonly Audit[]
  readonly stats: readonly SourceStats[]
}

interface StoredLog {
  open(): CompleteStore
  remove(): Promise<void>
}

type Read = (name: string) => Promise<Buffer>

const fixture =
  (schema: number): Read =>
  (name) =>
    readFile(new URL(`../fixtures/log-schema-${schema}/${name}`, import.meta.url))

const logs: Record<string, (read: Read) => Promise<StoredLog>> = {
  async sqlite(read) {
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-earlier-'))
    const path = join(folder, 'log.db')
    await writeFile(path, gunzipSync(await read('log.db.gz')))
    return { open: () => sqlite(path), remove: () => rm(folder, { recursive: true, force: true }) }
  },
  async postgres(read) {
    const database = await freshDatabase()
    await once(database.url, gunzipSync(await read('log.sql.gz')).toString())
    return { open: () => postgres(database.url), remove: database.drop }
  },
}

const cases = [4, 10].flatMap((schema) =>
  Object.entries(logs).map(([kind, restore]) => ({ schema, kind, restore })),
)

describe.each(cases)('a log of schema $schema on $kind', ({ schema, kind, restore }) => {
  const read = fixture(schema)
  let log: StoredLog
  let store: CompleteStore
  let written: Written
  const inboxes: Inbox[] = []
  beforeEach(async () => {
    log = await restore(read)
    store = log.open()
    written = JSON.parse((await read(`${kind}.json`)).toString()) as Written
    const { from, to, applied } = await store.migrate()
    expect(from).toBe(schema)
    expect(applied).toEqual(Array.from({ length: to - from }, (_, i) => from + 1 + i))
  })
  afterEach(async () => {
    for (const inbox of inboxes.splice(0)) await inbox.stop()
    await store.close()
    await log.remove()
  })

  function inboxOn(): Inbox {
    const options = { id: 'json:id', type: 'json:type', reference: 'json:ref' } as const
    const { inbox } = loggedInbox({
      store,
      sources: {
        shop: { ...unverified(options), order: 'reference' },
        batch: unverified({ ...options, each: 'events[]' }),
        bytes: unverified(options),
      },
    })
    inboxes.push(inbox)
    return inbox
  }

  const post = (inbox: Inbox, body: object) =>
    inbox.receive('shop', {
      method: 'POST',
      url: 'http://localhost/webhooks/shop',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    })

  test('every event, payload, attempt, audit and count is there', async () => {
    const { events } = await store.list({}, { limit: 500 })
    expect(events).toMatchObject(written.events.map(({ event }) => event))
    for (const { event, payload, attempts } of written.events) {
      expect(await store.get(event)).toMatchObject(event)
      const found = await store.inspect.payload(event)
      const { contentHash } = event
      expect(found && { ...found, body: Buffer.from(found.body).toString('base64') }).toEqual(
        payload && { ...payload, contentHash },
      )
      expect(await store.inspect.attempts(event)).toEqual(attempts)
    }
    expect((await store.audit.list({}, { limit: 500 })).audits).toEqual(written.audits)
    expect(await store.stats()).toMatchObject(written.stats)
    const { invariants } = await store.inspect.report()
    expect(invariants.filter(({ ok }) => !ok)).toEqual([])
    expect(invariants.length).toBeGreaterThan(0)
  })

  test('due events are processed, a lane in its order, and an effect that was made is not repeated', async () => {
    const inbox = inboxOn()
    const handled: string[] = []
    const charges: unknown[] = []
    inbox.on('shop', 'order.paid', (event) => void handled.push(event.id))
    inbox.on('shop', 'charged', async (_event, ctx) => {
      charges.push(await ctx.once('charge', () => 'a second time'))
    })
    inbox.on('batch', '*', (event) => void handled.push(`${event.id} ${JSON.stringify(event.payload)}`))
    inbox.on('bytes', '*', (event) => void handled.push(Buffer.from(event.raw).toString('base64')))
    await inbox.drain()
    const slice = (n: number) =>
      `slice ${n} ${JSON.stringify({ id: `slice ${n}`, type: 'paid', ref: `row ${n}` })}`
    const everyByte = Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString('base64')
    expect([...handled].sort()).toEqual(
      ['lane 1', 'lane 2', 'lane 3', 'pending', 'replay me', 'expired', slice(2), slice(3), everyByte].sort(),
    )
    expect(handled.filter((id) => id.startsWith('lane'))).toEqual(['lane 1', 'lane 2', 'lane 3'])
    expect(charges).toEqual([{ charge: 'ch_1' }])
    const expired = await store.inspect.attempts({ source: 'shop', eventId: 'expired' })
    expect(expired.map(({ worker, outcome }) => [worker === 'lost', outcome])).toEqual([
      [true, 'lost'],
      [false, 'succeeded'],
    ])
    expect(await inbox.events.stats()).toMatchObject([
      { source: 'batch', recorded: 3, succeeded: 3 },
      { source: 'bytes', recorded: 2, succeeded: 1, ignored: 1 },
      { source: 'shop', recorded: 14, succeeded: 11, ignored: 2, dead: 1 },
    ])
  })

  test('ids, contents, keys and watermarks of that time are still known', async () => {
    const inbox = inboxOn()
    inbox.on('shop', 'version', () => {}, {
      stale: (event) => (event.payload as { version: number }).version,
    })
    expect(await inbox.once('monthly report', () => ({ pages: 4 }))).toEqual({ pages: 3 })

    const known = { id: 'succeeded', type: 'order.paid', ref: 'customer 1' }
    expect(await post(inbox, known)).toMatchObject({ status: 'already_processed', duplicate: true })
    expect(await post(inbox, { ...known, more: 'bytes' })).toMatchObject({ duplicate: true })
    await store.duplicates.flush()
    expect(await store.get({ source: 'shop', eventId: 'succeeded' })).toMatchObject({
      deliveries: 6,
      conflicts: 2,
    })

    for (const version of [6, 8])
      await post(inbox, { id: `version ${version}`, type: 'version', ref: 'product 1', version })
    await inbox.process('shop', 'version 6')
    await inbox.process('shop', 'version 8')
    expect(await store.get({ source: 'shop', eventId: 'version 6' })).toMatchObject({
      state: 'ignored',
      reason: 'stale',
    })
    expect(await store.get({ source: 'shop', eventId: 'version 8' })).toMatchObject({ state: 'succeeded' })

    const hash = createHash('sha256').update('blob').digest()
    const again: NewDelivery = {
      source: 'bytes',
      headers: {},
      body: Buffer.from('blob'),
      events: [
        { eventId: 'a third id', eventType: 'blob', reference: null, contentHash: hash, guardHash: hash },
      ],
      contentGuard: 'review',
    }
    expect(await store.record([again])).toMatchObject([[{ status: 'recorded', state: 'ignored' }]])
  })
})
