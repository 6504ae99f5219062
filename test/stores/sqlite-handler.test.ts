/** Statements of a handler that would change the connection of the log. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { delivery } from '../support/delivery.js'

let folder: string
let store: ReturnType<typeof sqlite>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookonce-handler-'))
  store = sqlite(join(folder, 'events.db'))
  await store.migrate()
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

test.each([
  'pragma query_only = on',
  'PRAGMA main.query_only(1)',
  '-- now\npragma locking_mode = exclusive',
  'pragma journal_mode = delete',
  'pragma synchronous = off',
  'pragma writable_schema = on',
  'pragma wal_checkpoint(truncate)',
  "attach ':memory:' as other",
  'detach main',
  'vacuum',
  'create temp table hookonce_events (value text)',
  'create temporary trigger t after insert on hookonce_events begin select 1; end',
  'commit',
])('%s is refused in a handler, and the log goes on', async (sql) => {
  const transaction = await store.transaction()
  await expect(transaction.tx.run(sql)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('is not allowed in a handler'),
  })
  await transaction.tx.run('create table mine (value text)')
  await transaction.commit()
  expect((await store.record([delivery('a')]))[0]).toMatchObject([{ status: 'recorded' }])
})

test('a handler may read the shape of its tables', async () => {
  const transaction = await store.transaction()
  await transaction.tx.run('create table mine (value text, temp real)')
  expect(await transaction.tx.all('pragma table_info(mine)')).toHaveLength(2)
  expect(await transaction.tx.all("select name from pragma_table_info('mine')")).toHaveLength(2)
  await transaction.tx.run('pragma defer_foreign_keys = on')
  await transaction.rollback()
})
