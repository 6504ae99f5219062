/** The two examples of docs/choosing.md: an attempt that fails after its effect, and the effect happens once. */
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { shopInbox as besideTheApp } from '../../examples/placement/beside-the-app.js'
import { shopInbox as ofItsOwn } from '../../examples/placement/of-its-own.js'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { post } from '../support/processing.js'

let appDatabase: TestDatabase
let app: pg.Pool

beforeEach(async () => {
  appDatabase = await freshDatabase()
  app = new pg.Pool({ connectionString: appDatabase.url })
  app.on('error', () => {})
  await app.query(`create table orders (id text primary key, paid int not null default 0);
    create table handled (event_id text primary key); insert into orders (id) values ('o1')`)
})
afterEach(async () => {
  await app.end()
  await appDatabase.drop()
})

const paid = async () => (await app.query('select paid from orders')).rows[0].paid

test('beside the app: the effect is rolled back with an attempt that did not finish', async () => {
  const inbox = besideTheApp(app)
  await post(inbox as never, { id: 'e1', type: 'order.paid', order: 'o1' })
  // The outcome cannot be written, so the attempt ends after its effect.
  await app.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
    create trigger refuse before delete on hookonce.work for each row execute function refuse()`)
  await inbox.drain().catch(() => {})
  expect(await paid()).toBe(0)
  await app.query(
    'drop trigger refuse on hookonce.work; update hookonce.work set next_at = now(), token = null',
  )
  await inbox.drain()
  expect(await paid()).toBe(1)
  await inbox.stop()
})

test('a log of its own: the key keeps a second attempt from repeating the effect', async () => {
  const logDatabase = await freshDatabase()
  const log = new pg.Client({ connectionString: logDatabase.url })
  await log.connect()
  const inbox = ofItsOwn(logDatabase.url, app)
  try {
    await post(inbox, { id: 'e1', type: 'order.paid', order: 'o1' })
    await log.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before delete on hookonce.work for each row execute function refuse()`)
    await inbox.drain().catch(() => {})
    expect(await paid()).toBe(1)
    await log.query(
      'drop trigger refuse on hookonce.work; update hookonce.work set next_at = now(), token = null',
    )
    await inbox.drain()
    expect(await paid()).toBe(1)
    expect((await inbox.events.get({ source: 'shop', id: 'e1' }))?.state).toBe('succeeded')
  } finally {
    await inbox.stop()
    await log.end()
    await logDatabase.drop()
  }
})
