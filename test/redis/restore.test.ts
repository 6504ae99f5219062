/**
 * A log that is restored to an earlier moment, while Redis and the spool still hold what came after it: the answers are
 * those of the restored log, whether Redis was flushed or not, and the deliveries of the spool are recorded.
 */

import { chown, cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Inbox, lru, type Seen, type Store, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { redis } from 'hookonce/redis'
import { sqlite } from 'hookonce/sqlite'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { databaseUrl, freshDatabase, once } from '../support/database.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { post, shop, until } from '../support/processing.js'
import { clients, startRedis, type TestRedis } from '../support/redis.js'

let server: TestRedis
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  server = await startRedis()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})
afterAll(() => server.remove())

async function start(url: string, spool?: string, seen?: Seen): Promise<Inbox> {
  const client = await clients['node-redis']!(server.url)
  const inbox = createInbox({
    store: storeAt(url),
    sources: { shop: shop() },
    log: silentLog,
    processing: { poll: 20 },
    seen: seen ?? redis(client.client, { timeLimit: 5_000 }),
    ...(spool && { spool: { path: spool } }),
  })
  inbox.on('shop', 'order.paid', async () => {})
  closing.push(
    () => client.close(),
    () => inbox.stop(),
  )
  await inbox.start()
  return inbox
}

function storeAt(url: string): Store {
  return url.startsWith('postgres') ? postgres({ url, statementTimeout: 2_000 }) : sqlite(url)
}

/** Recorded, processed, and answered by Redis. */
async function known(inbox: Inbox, id: string): Promise<void> {
  expect((await post(inbox, { id })).httpStatus).toBe(200)
  const hits = () => wholeInbox(inbox).counters.seen?.hits ?? 0
  const from = hits()
  await until(async () => {
    const { status } = await post(inbox, { id })
    return status === 'already_processed' && hits() > from
  }, 'Redis answers')
}

/**
 * Deliveries of these events are recorded. The status of an answer does not tell: a record that is sent again after a slow
 * answer of the server finds its own row.
 */
async function expectRecorded(inbox: Inbox, ids: readonly string[]): Promise<void> {
  const answers = await Promise.all(ids.map(async (id) => (await post(inbox, { id })).httpStatus))
  expect(answers).toEqual(ids.map(() => 200))
  const events = await Promise.all(ids.map((eventId) => inbox.events.get({ source: 'shop', id: eventId })))
  expect(events.map((event) => event?.id)).toEqual(ids)
}

test.each([
  { how: 'not flushed', flush: false },
  { how: 'flushed', flush: true },
])(
  'recovery to an earlier moment, Redis $how: a later event is accepted again, the spool is recorded',
  async ({ flush }) => {
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-restore-'))
    closing.push(() => rm(folder, { recursive: true, force: true }))
    const spool = join(folder, 'spool.db')
    const original = await startPostgres()
    closing.push(() => original.remove())
    const first = await start(original.url, spool)
    await known(first, 'before')

    await original.stop()
    const restored = await startPostgres({ standbyOf: original, settings: { primary_conninfo: '' } })
    closing.push(() => restored.remove())
    await original.restart()
    await until(async () => (await post(first, { id: 'probe' })).status !== 'spooled', 'the log is back')
    await known(first, 'after')
    await original.stop()
    expect((await post(first, { id: 'in the spool' })).status).toBe('spooled')
    await first.stop()

    await once(restored.url, 'select pg_promote()')
    if (flush) {
      const client = await clients['node-redis']!(server.url)
      await client.flush()
      await client.close()
    }
    const next = await start(restored.url, spool)
    await until(async () => (await next.spool!.status()).depth === 0, 'the spool is drained')
    expect(await next.events.get({ source: 'shop', id: 'in the spool' })).not.toBeNull()
    expect((await post(next, { id: 'before' })).status).toBe('already_processed')
    await expectRecorded(next, ['after'])
  },
)

/** Events that were recorded and processed after the copy was made, and are known to the cache. */
const later = Array.from({ length: 20 }, (_, i) => `after-${i}`)

/** Stops the server, replaces its data by the copy, and starts it again. */
async function putBack(original: TestPostgres, copy: string): Promise<void> {
  await original.stop()
  await rm(original.dataDir, { recursive: true })
  await cp(copy, original.dataDir, { recursive: true, preserveTimestamps: true })
  const { uid, gid } = await stat(copy)
  for (const name of ['.', ...(await readdir(original.dataDir, { recursive: true }))])
    await chown(join(original.dataDir, name), uid, gid)
  await original.restart()
}

test.each([
  { cache: 'Redis', node: 'runs on' },
  { cache: 'Redis', node: 'is restarted' },
  { cache: 'the memory of the process', node: 'runs on' },
])(
  'the data folder is replaced by an earlier copy, $cache survives and the node $node: lost events are accepted again',
  async ({ cache, node }) => {
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-restore-'))
    closing.push(() => rm(folder, { recursive: true, force: true }))
    const original = await startPostgres()
    closing.push(() => original.remove())
    const seen = cache === 'Redis' ? undefined : lru()
    let inbox = await start(original.url, undefined, seen)
    await known(inbox, 'before')
    await original.stop()
    const copy = join(folder, 'data')
    await cp(original.dataDir, copy, { recursive: true, preserveTimestamps: true })
    const { uid, gid } = await stat(original.dataDir)
    await chown(copy, uid, gid)
    await original.restart()
    const isBack = async () => (await post(inbox, { id: 'probe' })).httpStatus === 200
    await until(isBack, 'the log is back')
    for (const id of later) await known(inbox, id)
    if (node === 'is restarted') await inbox.stop()

    await putBack(original, copy)
    if (node === 'is restarted') inbox = await start(original.url)
    await until(async () => (await post(inbox, { id: 'another' })).httpStatus === 200, 'the log is back')
    await expectRecorded(inbox, later)
    expect((await post(inbox, { id: 'before' })).status).toBe('already_processed')
  },
)

test.each([
  { cache: 'Redis', seen: () => undefined },
  { cache: 'the memory of the process', seen: () => lru() },
])('a SQLite file is replaced by an earlier copy: $cache does not answer for lost events', async (given) => {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-restore-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const [path, copy] = [join(folder, 'events.db'), join(folder, 'copy.db')]
  const seen = given.seen()
  const first = await start(path, undefined, seen)
  await known(first, 'before')
  await first.stop()
  await cp(path, copy)
  const second = await start(path, undefined, seen)
  await known(second, 'after')
  await second.stop()
  await rm(path)
  await cp(copy, path)
  const third = await start(path, undefined, seen)
  await expectRecorded(third, ['after'])
  expect((await post(third, { id: 'before' })).status).toBe('already_processed')
})

test('a copy of the database from an earlier moment is not the log that Redis knows', async () => {
  const original = await freshDatabase()
  closing.push(() => original.drop())
  const first = await start(original.url)
  await known(first, 'before')
  await first.stop()
  const copy = `${new URL(original.url).pathname.slice(1)}_copy`
  await once(
    inject('postgresUrl'),
    `create database ${copy} template ${new URL(original.url).pathname.slice(1)}`,
  )
  closing.push(() => once(inject('postgresUrl'), `drop database ${copy} with (force)`))
  const again = await start(original.url)
  await known(again, 'after')
  await again.stop()
  const next = await start(databaseUrl(inject('postgresUrl'), copy))
  await expectRecorded(next, ['after'])
  expect((await post(next, { id: 'before' })).status).toBe('already_processed')
})
