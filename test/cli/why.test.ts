/** From a row of the user's to its event, payload and attempt: the command, the route of the API, and their refusals. */
import { createInbox, silentLog } from 'hookonce'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningAdmin, startAdmin } from '../server/support.js'
import { type Folder, freshFolder } from '../support/cli.js'
import { freshDatabase, once, type TestDatabase } from '../support/database.js'
import { post, shop } from '../support/processing.js'

let folder: Folder
let database: TestDatabase

beforeAll(async () => {
  folder = freshFolder()
  database = await freshDatabase()
  await once(database.url, 'create table orders (id int primary key, paid boolean)')
  await withInbox(async (inbox) => {
    await post(inbox, { id: 'evt_2', type: 'invoice.paid', ref: 'cus_2' })
    await inbox.drain()
  })
})
afterAll(async () => {
  await database.dropped()
  folder.remove()
})

async function withInbox<T>(
  work: (inbox: ReturnType<typeof createInbox<PostgresTx>>) => Promise<T>,
): Promise<T> {
  await using inbox = createInbox<PostgresTx>({
    store: postgres({ url: database.url }),
    sources: { shop: shop() },
    log: silentLog,
  })
  inbox.on('shop', 'invoice.paid', (_, ctx) =>
    ctx.tx.query('insert into orders values (42, true) on conflict (id) do update set paid = true'),
  )
  return await work(inbox)
}

test('hookonce why goes from a row to its event, as text and as JSON', async () => {
  const { code, stdout } = await folder.call(['why', 'orders', '42', '--store', database.url])
  expect(stdout).toMatch(
    /public\.orders id=42 was last written by the transaction of:\n\n {2}shop evt_2 {2}invoice\.paid, cus_2/,
  )
  expect(stdout).toContain('attempt 1: succeeded, 20')
  expect(stdout).toContain('hookonce events show shop evt_2')
  expect(code).toBe(0)
  const json = await folder.call(['why', 'orders', 'id=42', '--json', '--store', database.url])
  expect(JSON.parse(json.stdout)).toMatchObject({
    found: 'attempt',
    attempts: [{ id: 'evt_2', source: 'shop' }],
  })
})

test('a missing row, a missing table and a log on SQLite are errors that say what to do', async () => {
  const missing = await folder.call(['why', 'orders', '1', '--store', database.url])
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('has no row with the key 1')])
  const table = await folder.call(['why', 'order', '1', '--store', database.url])
  expect(table.stderr).toContain('does not exist in this database')
  await folder.call(['migrate', 'up', '--store', 'sqlite:log.db'])
  const sqlite = await folder.call(['why', 'orders', '1', '--store', 'sqlite:log.db'])
  expect([sqlite.code, sqlite.stderr]).toEqual([1, expect.stringContaining('needs a log on PostgreSQL')])
})

test('GET /api/why answers the same for the role admin, and every question is in the audit', async () => {
  await withInbox(async (inbox) => {
    const running: RunningAdmin = await startAdmin(inbox)
    try {
      const path = '/api/why?table=orders&key=42'
      expect((await running.call('GET', path, { role: 'operator' })).status).toBe(403)
      expect(await running.json('GET', path)).toMatchObject({
        table: 'public.orders',
        found: 'attempt',
        attempts: [{ source: 'shop', id: 'evt_2', attempt: 1, outcome: 'succeeded' }],
      })
      expect((await running.call('GET', '/api/why?table=orders&key=7')).status).toBe(404)
      const { audits } = (await running.json('GET', '/api/audits?verb=why')) as { audits: { note: string }[] }
      expect(audits.map(({ note }) => note)).toEqual(['orders 7', 'orders 42'])
    } finally {
      await running.stop()
    }
  })
})
