/** ping: whether a delivery could be recorded now, and not whether the store can be read. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { freshDatabase, once } from '../support/database.js'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function delivery(eventId: string, bytes = 10): NewDelivery {
  return {
    source: 'shop',
    headers: {},
    body: Buffer.alloc(bytes, 'x'),
    events: [{ id: eventId, type: 'order.paid', reference: eventId, contentHash: null, guardHash: null }],
    contentGuard: 'review',
  }
}

test('a full SQLite log can be read and is not ready, until there is room again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-ping-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  const store = sqlite(join(folder, 'events.db'), { maxBytes: 1024 * 1024 })
  cleanups.push(() => store.close())
  await store.migrate()
  await store.ping()
  const fill = async () => {
    for (let i = 0; i < 100; i++) await store.record([delivery(`e${i}`, 100_000)])
  }
  await expect(fill()).rejects.toMatchObject({ code: 'STORE_FULL' })
  for (let i = 0; i < 3; i++) await expect(store.ping()).rejects.toMatchObject({ code: 'STORE_FULL' })
  expect((await store.list({})).events.length).toBeGreaterThan(0)
  for (const { id } of (await store.list({})).events.slice(0, 4)) {
    await store.archive.erase({ reference: id, actor: 'ada', note: 'room', limit: 10 })
  }
  await store.ping()
  expect(await store.record([delivery('after', 100_000)])).toMatchObject([[{ status: 'recorded' }]])
  await store.ping()
})

test('a PostgreSQL server that takes no writes is not ready', async () => {
  const database = await freshDatabase()
  cleanups.push(() => database.drop())
  const store = postgres(database.url)
  cleanups.push(() => store.close())
  await expect(store.ping()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
  await store.migrate()
  await store.ping()
  const name = new URL(database.url).pathname.slice(1)
  await once(database.url, `alter database ${name} set default_transaction_read_only = on`)
  const standby = postgres(database.url)
  cleanups.push(() => standby.close())
  await expect(standby.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await expect(standby.record([delivery('a')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
})

test('after a record that failed PostgreSQL is ready only when its tables can be written', async () => {
  const database = await freshDatabase()
  cleanups.push(() => database.drop())
  const store = postgres({ url: database.url, statementTimeout: 2_000 })
  cleanups.push(() => store.close())
  await store.migrate()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  cleanups.push(() => outside.end())
  await outside.query('begin; lock table hookonce.payloads in exclusive mode')
  await expect(store.record([delivery('a')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await expect(store.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await outside.query('rollback')
  await store.ping()
  expect(await store.record([delivery('a')])).toMatchObject([[{}]])
  await store.ping()
})
