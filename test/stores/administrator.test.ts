/** Settings that an administrator may have made: each is worked around, or named with what to do. */

import { type PostgresOptions, type PostgresTx, postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migratedDatabase, type TestDatabase } from '../support/database.js'
import { delivery } from '../support/delivery.js'
import { loggedInbox } from '../support/inboxes.js'
import { startPostgres } from '../support/postgres.js'
import { ids, postAll, quickRetry, shop, until } from '../support/processing.js'
import { afterwards } from '../support/serving.js'

let database: TestDatabase
let outside: pg.Client
let name: string

beforeEach(async () => {
  database = await migratedDatabase()
  name = new URL(database.url).pathname.slice(1)
  outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
})
afterEach(async () => {
  await outside.end()
  await database.drop()
})

function open(options: Partial<PostgresOptions> = {}): CompleteStore<PostgresTx> {
  const store = postgres({ url: database.url, schema: 'log', ...options })
  afterwards(() => store.close())
  return store
}

/** Records, handles in a transaction, reads and maintains. */
async function worksWhole(): Promise<void> {
  const store = open()
  const { inbox } = loggedInbox({
    store,
    sources: { shop: shop() },
    processing: { lease: 5_000, poll: 50, retry: quickRetry },
  })
  afterwards(() => inbox.stop({ deadline: 500 }))
  inbox.on('shop', '*', async (event, ctx) => {
    await (ctx.tx as PostgresTx).query('insert into log_user.effects (value) values ($1)', [event.id])
  })
  await inbox.start()
  await postAll(
    inbox,
    ids(20).map((id) => ({ id })),
  )
  const effects = async () => (await outside.query('select value from log_user.effects')).rowCount
  await until(async () => (await effects()) === 20, 'every event is handled')
  await until(async () => (await store.list({ state: 'succeeded' })).events.length === 20, 'settled')
  expect((await store.tail({ after: 0, limit: 100 })).events.length).toBe(20)
  await store.retention.maintain({ payloadsBefore: {} })
}

test('an error has the words of the server, or the address that refused', async () => {
  const record = async (store: CompleteStore) => {
    afterwards(() => store.close())
    return store.record([delivery('a')]).then(
      () => 'recorded',
      (error: Error) => error.message,
    )
  }
  const other = new URL(database.url)
  other.pathname = '/absent'
  expect(await record(postgres({ url: other.href }))).toMatch(
    /3D000: .*check its name.*database "absent" does not exist/,
  )
  expect(await record(postgres({ url: 'postgres://u@127.0.0.1:1/x' }))).toMatch(
    /ECONNREFUSED: connect 127\.0\.0\.1:1\)/,
  )
  expect(await record(postgres({ url: 'postgres://u@db.invalid/x' }))).toMatch(/ENOTFOUND.*db\.invalid/)
  await outside.query(`create function log.library() returns trigger language plpgsql as
    $$ begin load '/no/such/library'; return new; end $$;
    create trigger library before insert on log.events for each row execute function log.library()`)
  expect(await record(open())).toMatch(/58P01: could not access file/)
  await outside.query(`create or replace function log.library() returns trigger language plpgsql as
    $$ begin raise exception using errcode = '22023', message = 'value ' || new.event_id; end $$`)
  expect(await record(open())).not.toMatch(/value a/)
})

test('functions, operators and tables of the same names come first in the search path', async () => {
  await outside.query(`create schema evil;
    create function evil.hashtextextended(text, bigint) returns bigint language sql as 'select 1/0::bigint';
    create function evil.statement_timestamp() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$;
    create function evil.gen_random_uuid() returns uuid language sql as $$ select null::uuid $$;
    create function evil.to_timestamp(float8) returns timestamptz language sql as $$ select 'epoch'::timestamptz $$;
    create function evil.pg_backend_pid() returns int language sql as 'select 1';
    create function evil.refuse(bigint, bigint) returns boolean language sql as 'select false';
    create operator evil.= (leftarg = bigint, rightarg = bigint, function = evil.refuse);
    create table evil.events (seq bigint); create table evil.work (seq bigint);
    alter database ${name} set search_path = evil, pg_catalog`)
  const store = open()
  expect((await store.record([delivery('a')]))[0]![0]!.status).toBe('recorded')
  expect((await store.record([delivery('a')]))[0]![0]!.status).toBe('duplicate')
  const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 30_000 })
  expect(
    await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }]),
  ).toEqual([true])
  expect((await store.list({})).events).toMatchObject([{ id: 'a', state: 'succeeded' }])
  expect((await store.tail({ after: 0, limit: 10 })).events.length).toBe(1)
  await store.retention.maintain({ payloadsBefore: {} })
  const other = open({ schema: 'another' })
  await other.migrate()
  expect((await other.record([delivery('a')]))[0]![0]!.status).toBe('recorded')
})

test('time limits of the administrator are far too low', async () => {
  await outside.query(`alter database ${name} set idle_in_transaction_session_timeout = '1ms';
    alter database ${name} set lock_timeout = '1ms'; alter database ${name} set default_transaction_isolation = serializable`)
  await worksWhole()
})

test('a statement that waits longer than statement_timeout of the database is recorded all the same', async () => {
  await outside.query(`alter database ${name} set statement_timeout = '30ms'`)
  const store = open()
  await store.record([delivery('first')])
  await outside.query('begin; lock table log.events in share mode')
  const recording = store.record([delivery('second')])
  const waiting = async () =>
    (
      await outside.query(
        `select extract(epoch from clock_timestamp() - a.query_start) * 1000 > 100 as long from pg_stat_activity a
         where a.datname = current_database() and a.wait_event_type = 'Lock'`,
      )
    ).rows[0]?.long === true
  await until(waiting, 'the record waits longer than the limit')
  await outside.query('commit')
  expect((await recording)[0]![0]!.status).toBe('recorded')
})

test('the database is read-only, and then not any more', async () => {
  await outside.query(`alter database ${name} set default_transaction_read_only = on`)
  const store = open()
  for (const call of [() => store.ping(), () => store.record([delivery('a')])])
    await expect(call()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/25006: the server is read-only.*connect to the primary/),
    })
  await outside.query(
    `set transaction_read_only = off; alter database ${name} reset default_transaction_read_only`,
  )
  expect((await store.record([delivery('a')]))[0]![0]!.status).toBe('recorded')
})

test('every connection of the server is in use, and then not any more', async () => {
  const server = await startPostgres({
    settings: { max_connections: '12', superuser_reserved_connections: '0' },
  })
  try {
    const store = postgres({ url: server.url, maxConnections: 2 })
    afterwards(() => store.close())
    await store.migrate()
    await store.close()
    const look = new pg.Client({ connectionString: server.url })
    look.on('error', () => {})
    await look.connect()
    // The server ends the connections of the store a moment after it has closed them.
    await until(async () => {
      const { rowCount } = await look.query(
        "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
      )
      return rowCount === 0
    }, 'the connections of the store have ended')
    const held = [look]
    for (;;) {
      const client = new pg.Client({ connectionString: server.url })
      client.on('error', () => {})
      const isConnected = await client.connect().then(
        () => true,
        () => false,
      )
      if (!isConnected) break
      held.push(client)
    }
    const late = postgres({ url: server.url, maxConnections: 2 })
    afterwards(() => late.close())
    for (const call of [() => late.record([delivery('a')]), () => late.list({})])
      await expect(call()).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: expect.stringMatching(/53300: .*lower maxConnections.*use a pooler/),
      })
    await Promise.all(held.map((client) => client.end()))
    const record = async () => (await late.record([delivery('a')]))[0]![0]!.status
    await expect.poll(() => record().catch(() => 'not yet')).toMatch(/recorded|duplicate/)
    await late.close()
  } finally {
    await server.remove()
  }
})
