/**
 * A log that is restored to an earlier moment, while Redis and the spool still hold what came after it: the answers are
 * those of the restored log, whether Redis was flushed or not, and the deliveries of the spool are recorded.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Inbox, silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { redis } from 'hookonce/redis'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { databaseUrl, freshDatabase, once } from '../support/database.js'
import { startPostgres } from '../support/postgres.js'
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

async function start(url: string, spool?: string): Promise<Inbox> {
  const client = await clients['node-redis']!(server.url)
  const inbox = createInbox({
    store: postgres({ url, statementTimeoutMs: 2_000 }),
    sources: { shop: shop() },
    log: silentLog,
    processing: { pollMs: 20 },
    seen: redis(client.client, { timeLimitMs: 5_000 }),
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

/** Recorded, processed, and answered by Redis. */
async function known(inbox: Inbox, id: string): Promise<void> {
  expect((await post(inbox, { id })).status).toBe('accepted')
  const hits = () => inbox.counters.seen?.hits ?? 0
  const from = hits()
  await until(async () => {
    const { status } = await post(inbox, { id })
    return status === 'already_processed' && hits() > from
  }, 'Redis answers')
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
    expect(await next.events.get({ source: 'shop', eventId: 'in the spool' })).not.toBeNull()
    expect((await post(next, { id: 'before' })).status).toBe('already_processed')
    expect((await post(next, { id: 'after' })).status).toBe('accepted')
  },
)

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
  expect((await post(next, { id: 'after' })).status).toBe('accepted')
  expect((await post(next, { id: 'before' })).status).toBe('already_processed')
})
