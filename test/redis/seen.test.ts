/** `seen: redis(client)`: whatever Redis does, the answers are those of the log. */

import { createInbox, type Inbox, type Receipt, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { redis } from 'hookonce/redis'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { type Line, startLine } from '../support/line.js'
import { post, shop, until } from '../support/processing.js'
import { clients, givenRedis, startRedis, type TestClient, type TestRedis } from '../support/redis.js'

let server: TestRedis
let database: TestDatabase
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  server = await startRedis()
  database = await freshDatabase(inject('postgresUrl'))
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(async () => {
  await server.remove()
  await database.drop()
})

let logs = 0
function inboxOn(client: TestClient | null, schema = `log_${++logs}`, timeLimitMs = 50): Inbox {
  const store = postgres({ url: database.url, schema })
  const seen = client && redis(client.client, { timeLimit: timeLimitMs })
  const inbox = createInbox({
    store,
    sources: { shop: shop() },
    log: silentLog,
    processing: { poll: 20 },
    ...(seen && { seen }),
  })
  inbox.on('shop', 'order.paid', async () => {})
  closing.push(
    () => store.close(),
    () => inbox.stop(),
  )
  return inbox
}

const brief = ({ httpStatus, status, eventId, duplicate }: Receipt) => ({
  httpStatus,
  status,
  eventId,
  duplicate,
})

async function finished(inbox: Inbox, ...ids: string[]): Promise<void> {
  for (const eventId of ids)
    await until(
      async () => (await inbox.events.get({ source: 'shop', id: eventId }))?.state === 'succeeded',
      'finished',
    )
  // The process learns of it a little after the log, and then tells Redis.
  const { recorded, attempts } = wholeInbox(inbox).counters.of('shop')
  await until(() => attempts.succeeded >= recorded, 'known to the process')
}

/** Two events that have finished, a conflict, a new event, each delivered again: the answers, as a list. */
async function script(inbox: Inbox, disturb: () => void | Promise<void>, prefix = ''): Promise<unknown[]> {
  const answers: unknown[] = []
  const send = async (id: string, more: object = {}) =>
    void answers.push(brief(await post(inbox, { id: prefix + id, ...more })))
  await inbox.start()
  await send('a')
  await send('b')
  await finished(inbox, `${prefix}a`, `${prefix}b`)
  await disturb()
  for (let i = 0; i < 5; i++) await send('a')
  await send('b', { other: 'bytes' })
  await send('c')
  await finished(inbox, `${prefix}c`)
  await disturb()
  for (let i = 0; i < 3; i++) await send('c')
  return answers
}

describe.each(Object.entries(clients))('%s', (_, connect) => {
  let client: TestClient
  let line: Line
  beforeEach(async () => {
    if (server.own) await server.restart()
    line = await startLine(server.url)
    client = await connect(line.url)
    await client.flush()
    closing.push(
      () => line.close(),
      () => client.close(),
    )
  })

  test('a duplicate of a finished event is answered from Redis, also in another process that has just started', async () => {
    const first = inboxOn(client, 'shared')
    await first.start()
    await post(first, { id: `x${_}` })
    await finished(first, `x${_}`)
    await until(async () => (await post(first, { id: `x${_}` })).status === 'already_processed', 'known')
    const second = inboxOn(client, 'shared')
    await second.start()
    await until(async () => {
      await post(second, { id: `x${_}` })
      return wholeInbox(second).counters.seen!.hits > 0
    }, 'a hit in a process that never recorded it')
    expect(brief(await post(second, { id: `x${_}` }))).toEqual({
      httpStatus: 200,
      status: 'already_processed',
      eventId: `x${_}`,
      duplicate: true,
    })
  })

  const disturbances: Record<string, () => void | Promise<void>> = {
    'is well': () => {},
    'is flushed': () => client.flush(),
    'is slow': () => line.delay(100),
    'is cut off': () => line.cut('silence'),
    'is killed': () => server.kill(),
    'stands still': () => server.freeze(),
    'is restarted empty': () => server.restart(),
  }
  for (const [name, disturb] of Object.entries(disturbances)) {
    // A server that was given is not ours to kill.
    const needsOwn = givenRedis && ['is killed', 'stands still', 'is restarted empty'].includes(name)
    test.skipIf(needsOwn)(`when Redis ${name}, the answers are those without it`, async () => {
      try {
        const expected = await script(inboxOn(null), () => {})
        // Where hits are counted, no call may be given up because the machine is busy.
        const inbox = inboxOn(client, undefined, name === 'is well' ? 10_000 : undefined)
        expect(await script(inbox, disturb)).toEqual(expected)
        if (name === 'is well') expect(wholeInbox(inbox).counters.seen!.hits).toBeGreaterThanOrEqual(5)
        if (['is slow', 'is cut off', 'is killed', 'stands still'].includes(name))
          expect(wholeInbox(inbox).counters.seen!.errors).toBeGreaterThan(0)
      } finally {
        if (server.own) server.thaw()
      }
    })
  }

  test('an entry that Redis keeps beyond its time is not believed', async () => {
    const inbox = inboxOn(client)
    await inbox.start()
    await post(inbox, { id: 'a' })
    await finished(inbox, 'a')
    const commands = client.client as unknown as {
      keys(pattern: string): Promise<string[]>
      get(key: string): Promise<string>
      set(key: string, value: string): Promise<unknown>
      persist(key: string): Promise<unknown>
    }
    await until(async () => (await commands.keys('hookonce:seen:*')).length === 1, 'it is written')
    const [key = ''] = await commands.keys('hookonce:seen:*')
    await until(async () => JSON.parse(await commands.get(key))[3] === 1, 'as finished')
    const value = JSON.parse(await commands.get(key))
    value[5] = Date.now() - 1
    await commands.set(key, JSON.stringify(value))
    await commands.persist(key)
    expect((await post(inbox, { id: 'a' })).status).toBe('already_processed')
    expect(wholeInbox(inbox).counters.seen).toMatchObject({ hits: 0 })
    // And what is not ours at all is not read as anything.
    for (const junk of ['', 'x', '[]', '[1,1]', '{"a":1}', '[1,"1","",1,9e99,9e99]']) {
      await commands.set(key, junk)
      expect((await post(inbox, { id: 'a' })).status, junk).toBe('already_processed')
    }
  })

  test('entries of a log that is gone say nothing about a new one', async () => {
    const old = inboxOn(client, 'gone')
    await old.start()
    await post(old, { id: 'a' })
    await finished(old, 'a')
    await until(async () => (await post(old, { id: 'a' })).status === 'already_processed', 'known')
    await old.stop()
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    await admin.query('drop schema gone cascade')
    await admin.end()
    const next = inboxOn(client, 'gone')
    await next.start()
    expect((await post(next, { id: 'a' })).status).toBe('accepted')
  })

  test('99 % duplicates need less than 5 % of the statements that record and look up events without it', async () => {
    const without = await storm(inboxOn(null))
    // A limit that a busy machine does not reach: what is counted here is queries, not time.
    const withSeen = await storm(inboxOn(client, undefined, 10_000))
    expect(without).toBeGreaterThanOrEqual(500)
    expect(withSeen).toBeGreaterThanOrEqual(5)
    expect(withSeen).toBeLessThan(0.05 * without)
  })
})

/** 500 deliveries, one in a hundred of them new, and the queries of intake they cost. */
async function storm(inbox: Inbox): Promise<number> {
  await inbox.start()
  for (let i = 0; i < 5; i++) await post(inbox, { id: `known-${i}` })
  await finished(inbox, ...Array.from({ length: 5 }, (_, i) => `known-${i}`))
  const counted = countQueries()
  try {
    for (let i = 0; i < 500; i++) {
      const id = i % 100 === 50 ? `new-${i}` : `known-${i % 5}`
      await post(inbox, { id })
    }
  } finally {
    counted.stop()
  }
  return counted.queries()
}

/** Counts the statements of record and of its look-up sent by any connection of this process. */
function countQueries(): { queries(): number; stop(): void } {
  const original = pg.Client.prototype.query
  let queries = 0
  pg.Client.prototype.query = function counting(this: pg.Client, ...args: never[]) {
    const [query] = args as unknown as [{ name?: string }]
    if (/_(record|record_plain|lookup)$/.test(query.name ?? '')) queries++
    return (original as (...args: never[]) => unknown).apply(this, args)
  } as never
  return {
    queries: () => queries,
    stop() {
      pg.Client.prototype.query = original
    },
  }
}
