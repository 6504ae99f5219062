/**
 * PostgreSQL behind a real PgBouncer in transaction mode: consecutive transactions of one client run in different
 * sessions of the server, so nothing may depend on the state of a session. HOOKONCE_TEST_PGBOUNCER is the program of
 * another version; with HOOKONCE_TEST_PGBOUNCER_STATEMENTS (1.21 or newer) it keeps that many prepared statements, and
 * the stores prepare theirs.
 */

import { type PostgresOptions, type PostgresTx, postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { startChild } from '../support/child.js'
import { freshDatabase, migratedDatabase, type TestDatabase } from '../support/database.js'
import { delivery } from '../support/delivery.js'
import { loggedInbox } from '../support/inboxes.js'
import { startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js'
import { ids, postAll, quickRetry, shop, signal, until } from '../support/processing.js'
import { afterwards } from '../support/serving.js'

const DAY_MS = 86_400_000
/** `max_prepared_statements` of the pooler; undefined leaves its default. */
const statements = process.env.HOOKONCE_TEST_PGBOUNCER_STATEMENTS
const named = Number(statements ?? 0) > 0
let pooler: TestPgBouncer
let database: TestDatabase
let outside: pg.Client

beforeAll(async () => {
  pooler = await startPgBouncer(inject('postgresUrl'), {
    settings: statements === undefined ? {} : { max_prepared_statements: statements },
  })
})
afterAll(() => pooler.remove())
beforeEach(async () => {
  database = await migratedDatabase()
  outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
})
afterEach(async () => {
  await outside.end()
  await database.drop()
})

function open(options: Partial<PostgresOptions> = {}): CompleteStore<PostgresTx> {
  const prepare = named ? { prepare: true } : {}
  const store = postgres({ url: pooler.through(database.url), schema: 'log', ...prepare, ...options })
  afterwards(() => store.close())
  return store
}

async function states(): Promise<Record<string, number>> {
  const { rows } = await outside.query(
    `select case when w.seq is null then 'finished' when w.token is null then 'waiting' else 'processing' end as state,
       count(*)::int as n from log.events e left join log.work w using (seq) group by 1`,
  )
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

const effects = async (): Promise<string[]> =>
  (await outside.query('select value from log_user.effects')).rows.map(({ value }) => String(value))

describe('through a PgBouncer in transaction mode', () => {
  test('events of a new handler are left to the process that has it', async () => {
    const make = () =>
      loggedInbox({ store: open(), sources: { shop: shop() }, processing: { poll: 50 } }).inbox
    const [old, next] = [make(), make()]
    afterwards(() => Promise.all([old.stop(), next.stop()]))
    const handled: string[] = []
    old.on('shop', 'order.paid', () => {})
    next.on('shop', 'order.refunded', (event) => void handled.push(event.id))
    await Promise.all([old.start(), next.start()])
    await postAll(
      old,
      ids(50).map((id) => ({ id, type: 'order.refunded' })),
    )
    await until(() => handled.length === 50, 'all are handled')
    expect((await old.events.list({ state: 'ignored' })).events).toEqual([])
  })

  test('a server process answers 400 deliveries and handles each once', async () => {
    const child = startChild('./server-child.mjs', [
      '{}',
      'insert into log_user.effects (value) values ($1)',
      'postgres',
      `${pooler.through(database.url)}${named ? '?prepare=true' : ''}`,
      'log',
    ])
    await child.said(1)
    const [url] = child.lines[0]!.split(' ')
    const names = ids(400)
    const statuses: Record<string, number> = {}
    const send = async (id: string) => {
      const answer = await fetch(`${url}/webhooks/shop`, {
        method: 'POST',
        body: JSON.stringify({ id, type: 'order.paid' }),
      })
      await answer.arrayBuffer()
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    }
    const waiting = [...names]
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await send(id)
      }),
    )
    await until(async () => (await effects()).length >= 400, 'every event is handled').catch(() => {})
    child.signal('SIGTERM')
    expect({ statuses, states: await states(), code: await child.ended() }).toEqual({
      statuses: { 200: 400 },
      states: { finished: 400 },
      code: 0,
    })
    expect((await effects()).map((value) => value.split(' ')[0]).sort()).toEqual(names.sort())
  })

  test('events are handled in the transaction of their handler, and the log says what was chosen, once', async () => {
    const { inbox, lines } = loggedInbox({
      // Fewer transactions than the pooler has connections: `once` needs another one while the transaction is open.
      store: open({ maxTransactions: 2 }),
      sources: { shop: shop() },
      processing: { lease: 5_000, poll: 50, retry: quickRetry },
    })
    afterwards(() => inbox.stop({ deadline: 500 }))
    inbox.on('shop', '*', async (event, ctx) => {
      const tx = ctx.tx as PostgresTx
      await tx.query('insert into log_user.effects (value) values ($1)', [event.id])
      await ctx.once('mail', async () => 'sent')
    })
    await inbox.start()
    const names = ids(100)
    await postAll(
      inbox,
      names.map((id) => ({ id })),
    )
    await until(async () => (await states()).finished === 100, 'every event is handled')
    expect((await effects()).sort()).toEqual(names.sort())
    expect(lines.filter(({ msg }) => msg.includes('pooler'))).toMatchObject([
      { level: 'warn', prepared: named, wakeups: 'polling' },
    ])
    expect(lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a reader sees every event in order', async () => {
    const store = open()
    const names = ['e', 'f', 'g'].flatMap((prefix) => ids(20, prefix))
    await Promise.all(['e', 'f', 'g'].map((prefix) => store.record(ids(20, prefix).map(delivery))))
    const read: string[] = []
    for (let after = 0; read.length < names.length; ) {
      const page = await store.tail({ after, limit: 7 })
      read.push(...page.events.map(({ id }) => id))
      after = page.position
    }
    expect(read.sort()).toEqual(names.sort())
    expect(await store.stats()).toMatchObject([{ source: 'shop' }])
    expect((await store.list({}, { limit: 100 })).events.length).toBe(60)
  })

  test('several processes migrate an empty database at once', async () => {
    const empty = await freshDatabase()
    try {
      const url = pooler.through(empty.url)
      const stores = Array.from({ length: 3 }, () => open({ url, schema: 'other' }))
      const reports = await Promise.all(stores.map((store) => store.migrate()))
      const { to } = reports[0]!
      expect(reports.flatMap(({ applied }) => applied).sort((a, b) => a - b)).toEqual(
        Array.from({ length: to }, (_, i) => i + 1),
      )
      expect((await stores[0]!.record([delivery('e')]))[0]![0]!.status).toBe('recorded')
      await Promise.all(stores.map((store) => store.close()))
    } finally {
      await empty.drop()
    }
  })

  test('retention drops whole partitions, one process at a time, and leaves no lock behind', async () => {
    const store = open({ partitions: 'day' })
    const at = Date.now() - 40 * DAY_MS
    await store.record([{ ...delivery('old'), receivedAt: at }])
    const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 30_000 })
    await store.settle([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    const payloadsBefore = { shop: Date.now() - 30 * DAY_MS }
    const reports = await Promise.all([
      store.retention.maintain({ payloadsBefore }),
      open({ partitions: 'day' }).retention.maintain({ payloadsBefore }),
      open({ partitions: 'day' }).retention.maintain({ payloadsBefore }),
    ])
    const last = await store.retention.maintain({ payloadsBefore })
    expect(last.busy).toBe(false)
    const dropped = [...reports, last].flatMap((report) => report.dropped)
    expect(dropped.map(({ payloads }) => payloads)).toEqual([1])
    const { rows } = await outside.query(
      `select l.pid from pg_locks l join pg_database d on d.oid = l.database
       where l.locktype = 'advisory' and d.datname = current_database()`,
    )
    expect(rows).toEqual([])
    const pruned = await store.retention.prune({ source: 'shop', eventsBefore: Date.now(), limit: 100 })
    expect(pruned.events).toBe(1)
  })

  test('an exclusive task runs for one caller at a time', async () => {
    const store = open()
    const other = open()
    const inside = signal()
    const { inbox } = loggedInbox({ store, sources: { shop: shop() } })
    const { inbox: second } = loggedInbox({ store: other, sources: { shop: shop() } })
    let running = 0
    let most = 0
    const task = async () => {
      most = Math.max(most, ++running)
      inside.give()
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return 'done'
    }
    const results = await Promise.all(
      ids(20).map((_, i) => (i % 2 ? inbox : second).once('key', task, { wait: 30_000 })),
    )
    expect(most).toBe(1)
    expect(results.length).toBe(20)
  })

  test('sessions of the server keep the settings of their owner', async () => {
    const store = open()
    await Promise.all(ids(30).map((id) => store.record([delivery(id)])))
    await store.retention.maintain({ payloadsBefore: {} })
    const client = new pg.Client({ connectionString: pooler.through(database.url) })
    await client.connect()
    try {
      for (let i = 0; i < 9; i++) {
        const { rows } = await client.query(
          `select current_setting('enable_seqscan') as scans, current_setting('jit') as jit,
             current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
             current_setting('search_path') as path, (select count(*)::int from pg_prepared_statements) as prepared`,
        )
        expect(rows[0]).toEqual({
          scans: 'on',
          jit: 'on',
          statement: '0',
          lock: '0',
          path: '"$user", public',
          prepared: named ? expect.any(Number) : 0,
        })
      }
    } finally {
      await client.end()
    }
  })

  test('commits are flushed although the database does not wait for them by default', async () => {
    const name = new URL(database.url).pathname.slice(1)
    await outside.query(`alter database ${name} set synchronous_commit = off`)
    await outside.query(`create table log_user.seen (value text);
      create function log_user.note() returns trigger language plpgsql as $$ begin
        insert into log_user.seen values (current_setting('synchronous_commit')); return new; end $$;
      create trigger note before insert on log.events for each row execute function log_user.note()`)
    const store = open()
    await Promise.all(ids(20).map((id) => store.record([delivery(id)])))
    const { rows } = await outside.query('select distinct value from log_user.seen')
    expect(rows).toEqual([{ value: 'on' }])
  })

  test('with directUrl other processes are woken by notifications', async () => {
    const woken = signal()
    const listening = open({ directUrl: database.url })
    await listening.subscribe(woken.give)
    await open().record([delivery('e')])
    await woken.wait
  })
})

test('a statement that a session does not know is sent again without a name, and the log says so', async () => {
  // A pooler that passes on the numbers of the server's processes: only the missing statement shows that sessions change.
  await outside.query(`create function log_user.forget() returns trigger language plpgsql as $$ begin
      deallocate all; return new; end $$;
    create trigger forget after insert on log.events for each row execute function log_user.forget()`)
  const { inbox, lines } = loggedInbox({
    store: open({ url: database.url }),
    sources: { shop: shop() },
    processing: { lease: 5_000, poll: 50, retry: quickRetry },
  })
  afterwards(() => inbox.stop({ deadline: 500 }))
  inbox.on('shop', '*', async (event, ctx) => {
    const tx = ctx.tx as PostgresTx
    await tx.query('insert into log_user.effects (value) values ($1)', [event.id])
  })
  await inbox.start()
  const names = ids(40)
  for (const id of names) await postAll(inbox, [{ id }])
  await until(async () => (await states()).finished === 40, 'every event is handled')
  expect((await effects()).sort()).toEqual(names.sort())
  expect(lines.filter(({ msg }) => msg.includes('pooler'))).toMatchObject([
    { level: 'warn', prepared: false },
  ])
})
