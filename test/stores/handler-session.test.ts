/** The session of a handler's connection: what one handler changes, the next one does not meet. */

import { type PostgresTx, postgres } from 'hookonce/postgres'
import type { Lease } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { once } from '../support/database.js'
import { delivery } from '../support/delivery.js'
import { postgresLog, type SharedLog } from '../support/logs.js'
import { startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js'

type Store = ReturnType<typeof postgres>

/** May do everything that the role of the log may do. */
const role = 'hookonce_test_handler'
beforeAll(() => once(inject('postgresUrl'), `drop role if exists ${role}; create role ${role} superuser`))
afterAll(() => once(inject('postgresUrl'), `drop role ${role}`))

let log: SharedLog
beforeEach(async () => {
  log = await postgresLog()
  await log.sql(`create schema other; create table other.effects (value text not null);
    create table public.effects (value text not null)`)
})
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await log.remove()
})

const succeeded = (lease: Lease) => [{ lease, outcome: { kind: 'succeeded' }, durationMs: 1 }] as const

async function leasesOf(store: Store, ids: readonly string[]): Promise<Lease[]> {
  await store.record(ids.map((id) => delivery(id)))
  return (await store.claim({ worker: 'w', limit: ids.length, leaseMs: 60_000 })).map(({ lease }) => lease)
}

function open(options: object): Store {
  const store = postgres({ schema: log.args[2]!, ...options } as never)
  closing.push(() => store.close())
  return store
}

/** What a handler can find in its session. */
async function sessionOf(tx: PostgresTx): Promise<object> {
  const { rows } =
    await tx.query(`select current_setting('search_path') as path, current_user = '${role}' as other_role,
    to_regclass('pg_temp.effects') as temporary, current_setting('app.tenant', true) as tenant,
    (select count(*)::int from pg_prepared_statements where name = 'mine') as prepared,
    (select count(*)::int from pg_listening_channels()) as channels,
    (select count(*)::int from pg_locks where locktype = 'advisory' and objid = 4711) as locks`)
  return { ...rows[0], tenant: rows[0].tenant || null }
}

const clean = {
  path: '"$user", public',
  other_role: false,
  temporary: null,
  tenant: null,
  prepared: 0,
  channels: 0,
  locks: 0,
}

const changes = [
  'set search_path = other, public',
  '/* a comment */ set search_path to other, public',
  "select set_config('search_path', 'other, public', false)",
  "do $$ begin perform set_config('search_path', 'other, public', false); end $$",
  'select 1; set search_path = other, public',
  "set app.tenant = 'a'",
  `set session authorization ${role}`,
  `set role ${role}`,
  'create temporary table effects (value text)',
  'prepare mine as select 1',
  'listen mine',
  'select pg_advisory_lock(4711)',
]

const pools = {
  'the pool of the store': () => open({ url: log.args[1], maxTransactions: 1 }),
  'the pool of the application': () => {
    const pool = new pg.Pool({ connectionString: log.args[1]!, max: 1 })
    pool.on('error', () => {})
    closing.push(() => pool.end())
    return open({ pool })
  },
}

describe.each(Object.entries(pools))('on %s', (_, opened) => {
  test.each(changes)('%s does not reach the next handler', async (sql) => {
    const store = opened()
    const [a, b] = await leasesOf(store, ['a', 'b'])
    const first = await store.transaction()
    await first.tx.query(sql)
    const finished = first.finish(succeeded(a!))
    const second = await store.transaction()
    expect(await finished).toBe(true)
    // The server notices after a moment that the connection is closed, and releases the lock.
    await expect.poll(() => sessionOf(second.tx)).toEqual(clean)
    await second.tx.query("insert into effects (value) values ('b')")
    expect(await second.finish(succeeded(b!))).toBe(true)
    const outside = new pg.Client({ connectionString: log.args[1]! })
    await outside.connect()
    expect((await outside.query('select value from public.effects')).rows).toEqual([{ value: 'b' }])
    await outside.end()
  })

  test('what lasts as long as the transaction keeps the connection', async () => {
    const store = opened()
    const [a] = await leasesOf(store, ['a'])
    const pidOf = async (tx: PostgresTx) => (await tx.query('select pg_backend_pid() as pid')).rows[0].pid
    const first = await store.transaction()
    const pid = await pidOf(first.tx)
    await first.tx.query('set local search_path = other')
    await first.tx.query("select set_config('app.tenant', $1, true)", ['a'])
    await first.tx.query('create temp table mine (value text) on commit drop')
    await first.tx.query('select pg_advisory_xact_lock(4711)')
    await first.tx.query('update\n  log_user.effects\nset value = $1', ['x'])
    await first.finish(succeeded(a!))
    const second = await store.transaction()
    expect(await pidOf(second.tx)).toBe(pid)
    expect(await sessionOf(second.tx)).toEqual(clean)
    await second.rollback()
  })

  test.each([
    'insert into public.effects (value) values (1); commit',
    'insert into public.effects (value) values (1); commit; begin',
    'insert into public.effects (value) values (1); /* ; */ end -- now',
    'insert into public.effects (value) values (1); rollback',
  ])('%s is refused before it runs', async (sql) => {
    const store = opened()
    const transaction = await store.transaction()
    expect(() => transaction.tx.query(sql)).toThrow(/hookonce begins and ends the transaction/)
    await transaction.tx
      .query("select 1 as a; select ';commit' as b; rollback to savepoint s")
      .catch(() => {})
    await transaction.rollback()
    const second = await store.transaction()
    await second.tx.query(`create function f() returns int language plpgsql as $$ begin return 1; end $$;
      create function g() returns int begin atomic select 1; end`)
    expect((await second.tx.query('select value from public.effects')).rows).toEqual([])
    await second.rollback()
  })

  test('a transaction that a handler has ended all the same is not settled', async () => {
    const store = opened()
    const [a, b] = await leasesOf(store, ['a', 'b'])
    const first = await store.transaction()
    // What the text does not show.
    const hidden = new pg.Query('select 1') as pg.Query & { submit(connection: pg.Connection): void }
    hidden.submit = (connection) => (connection as unknown as { query(sql: string): void }).query('commit')
    await new Promise<void>((resolve) => {
      ;(hidden as unknown as { callback: () => void }).callback = resolve
      first.tx.query(hidden as never)
    })
    await expect(first.finish(succeeded(a!))).rejects.toMatchObject({ code: 'TRANSACTION_CLOSED' })
    const states = await Promise.all(['a', 'b'].map((eventId) => store.get({ source: 'shop', id: eventId })))
    expect(states.map((event) => event!.state)).toEqual(['processing', 'processing'])
    const second = await store.transaction()
    await second.tx.query('select 1')
    expect(await second.finish(succeeded(b!))).toBe(true)
  })
})

describe('behind a pooler', () => {
  let pooler: TestPgBouncer
  beforeAll(async () => {
    pooler = await startPgBouncer(inject('postgresUrl'))
  })
  afterAll(() => pooler.remove())

  test('a statement that changes the session is refused, and says what to use', async () => {
    const store = open({ url: pooler.through(log.args[1]!) })
    await leasesOf(store, ['a'])
    const transaction = await store.transaction()
    for (const sql of changes) expect(() => transaction.tx.query(sql), sql).toThrow(/pooler.*use set local/)
    await transaction.tx.query('set local search_path = other, public')
    await transaction.tx.query("insert into effects (value) values ('a')")
    await transaction.commit()
    const second = await store.transaction()
    expect(await sessionOf(second.tx)).toEqual(clean)
    await second.rollback()
  })
})
