/** Each thing an inspection looks for, damaged by hand: it is found, named, and said what to do about. */

import { rm } from 'node:fs/promises'
import { silentLog } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { sqlite } from 'hookonce/sqlite'
import type { CompleteStore, Inspection } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { growthFindings } from '#dist/stores/postgres/inspect.js'
import { delivery } from '../support/delivery.js'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { startPostgres } from '../support/postgres.js'

const broken = ({ invariants, settings }: Inspection) => [...invariants, ...settings].filter(({ ok }) => !ok)

async function settle(
  store: CompleteStore,
  eventId: string,
  kind: 'succeeded' | 'ignored' | 'failed',
): Promise<void> {
  const [claimed] = await store.claim({
    worker: 'w',
    limit: 1,
    leaseMs: 60_000,
    event: { source: 'shop', id: eventId },
  })
  const outcome = {
    succeeded: { kind: 'succeeded' },
    ignored: { kind: 'ignored', reason: 'r' },
    failed: { kind: 'failed', error: 'e', retryInMs: null },
  } as const
  await store.settle([{ lease: claimed!.lease, outcome: outcome[kind], durationMs: 1 }])
}

const logs = {
  SQLite: sqliteLog,
  PostgreSQL: postgresLog,
}

describe.each(Object.entries(logs))('an inspection on %s', (kind, makeLog) => {
  /** A log with an event of each kind, damaged by `sql`, where {id} is the seq of that event; what is then broken. */
  async function damaged(...sql: string[]): Promise<Inspection> {
    const log: SharedLog = await makeLog()
    const store = log.open()
    try {
      await store.migrate()
      const seqs = new Map<string, number>()
      for (const eventId of ['pending', 'succeeded', 'ignored', 'failed']) {
        await store.record([delivery(eventId)])
        seqs.set(eventId, (await store.get({ source: 'shop', id: eventId }))!.seq)
        if (eventId !== 'pending') await settle(store, eventId, eventId as 'succeeded')
      }
      expect(broken(await store.inspect.report())).toEqual([])
      for (const text of sql) await log.sql(text.replace(/{(\w+)}/g, (_, id) => String(seqs.get(id))))
      return await store.inspect.report()
    } finally {
      await store.close()
      await log.remove()
    }
  }

  const now = kind === 'SQLite' ? '0' : 'now()'
  const work = (id: string) => `insert into log.work (seq, source, next_at, attempt, base_attempt)
    values ({${id}}, 'shop', ${now}, 1, 0)`
  const dropKey =
    kind === 'SQLite'
      ? [
          'alter table log.events rename to log.events_old',
          'create table log.events as select * from log.events_old',
        ]
      : ['alter table log.events drop constraint events_once']
  const copy =
    kind === 'SQLite'
      ? `insert into log.events (seq, source, event_id, event_type, received_at, processing_state, run)
         select seq + 100, source, event_id, event_type, received_at, processing_state, run
         from log.events where seq = {succeeded}`
      : `insert into log.events (seq, batch, received_at, source, event_id, event_type, parked)
         select seq + 100, batch, received_at, source, event_id, event_type, 'ignored'
         from log.events where seq = {succeeded}`

  test.each([
    ['the unique key is gone', dropKey, ['unique key']],
    ['an event stands there twice', [...dropKey, copy], ['unique key', 'one row']],
    ['an event that succeeded is back at work', [work('succeeded')], ['finished events']],
    ['an event that was ignored is back at work', [work('ignored')], ['finished events']],
    ['a dead letter is back at work', [work('failed')], ['finished events']],
    ['the event of a work row is gone', ['delete from log.events where seq = {pending}'], ['every work row']],
    [
      'the bytes of a pending event are gone',
      ['delete from log.payloads where seq = {pending}'],
      ['unfinished events have their payloads'],
    ],
    [
      'the bytes of a dead letter are gone',
      ['delete from log.payloads where seq = {failed}'],
      ['unfinished events have their payloads'],
    ],
    [
      'the work row of a pending event is gone',
      ['delete from log.work where seq = {pending}'],
      ['unfinished events have their work rows'],
    ],
    ['the bytes of a finished event are gone', ['delete from log.payloads where seq = {succeeded}'], []],
  ])('%s', async (_, sql, names) => {
    const found = broken(await damaged(...sql))
    expect(found.map(({ name }) => names.find((start) => name.startsWith(start)) ?? name)).toEqual(names)
    for (const { fix, value } of found) {
      expect(fix).toMatch(/\.$|;$/)
      expect(value).toMatch(/missing|broken: seq \d+/)
    }
  })

  test('more broken rows than are worth naming are counted as more', async () => {
    const log = await makeLog()
    const store = log.open()
    await store.migrate()
    await store.record(Array.from({ length: 20 }, (_, i) => delivery(`e${i}`)))
    await log.sql('delete from log.work')
    const [finding] = broken(await store.inspect.report())
    expect(finding?.value).toMatch(/^broken: seq \d+, \d+, \d+, \d+, \d+ and more$/)
    await store.close()
    await log.remove()
  })

  test('a log of a newer hookonce is looked at, and its tables are left alone', async () => {
    const log = await makeLog()
    const store = log.open()
    const { to } = await store.migrate()
    await log.sql('create table log.copy as select * from log.migrations')
    await log.sql(`update log.copy set number = ${to + 1} where number = ${to}`)
    await log.sql(`insert into log.migrations select * from log.copy where number = ${to + 1}`)
    const { schema, invariants, settings } = await store.inspect.report()
    expect(schema).toEqual({ found: to + 1, known: to, needed: 1 })
    expect(invariants).toEqual([])
    expect(settings.every(({ ok }) => ok)).toBe(true)
    await store.close()
    await log.remove()
  })
})

test('an unfinished build of the unique key on PostgreSQL is no key', async () => {
  const log = await postgresLog()
  const store = log.open()
  await store.migrate()
  await log.sql(`update pg_index set indisvalid = false where indexrelid = 'log.events_once'::regclass`)
  const [finding] = broken(await store.inspect.report())
  expect(finding).toMatchObject({ value: 'not valid', fix: expect.stringContaining('reindex index') })
  await store.close()
  await log.remove()
})

test('settings of PostgreSQL that an ack cannot rely on are named, with what to do', async () => {
  const server = await startPostgres({
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      autovacuum: 'off',
      synchronous_commit: 'off',
      max_connections: '19',
    },
  })
  const store = postgres({ url: server.url, maxConnections: 5, maxTransactions: 11 })
  const said: string[] = []
  const warn = (_: unknown, message: string) => void said.push(message)
  store.logTo?.({ ...silentLog, warn })
  await store.migrate()
  expect(said).toEqual([
    expect.stringMatching(/may open 20 connections; the server allows 16, .*Raise max_connections/),
  ])
  const small = postgres({ url: server.url, maxConnections: 2, maxTransactions: 2 })
  small.logTo?.({ ...silentLog, warn })
  await small.migrate()
  expect(said).toHaveLength(1)
  await small.close()
  const { settings, partitionsAhead, transactions } = await store.inspect.report()
  expect(transactions).toBe(11)
  const bad = settings.filter(({ ok }) => !ok)
  expect(bad.map(({ name }) => name)).toEqual(['fsync', 'full_page_writes', 'autovacuum', 'max_connections'])
  for (const { fix } of bad) expect(fix).toMatch(/(Set|Raise) .*\.$/)
  expect(bad.at(-1)?.value).toMatch(/^20 needed by each process, 16 allowed, \d+ in use$/)
  // The log's own connections turn it on.
  expect(settings.find(({ name }) => name === 'synchronous_commit')).toMatchObject({ value: 'on', ok: true })
  expect(partitionsAhead).toBeGreaterThanOrEqual(3)
  await store.close()
  await server.remove()
})

test('what SQLite cannot promise is said: a log in memory, a file that is gone', async () => {
  const memory = sqlite(':memory:')
  expect((await memory.inspect.report()).settings.filter(({ ok }) => !ok).map(({ name }) => name)).toContain(
    'journal_mode',
  )
  await memory.close()
  const log = await sqliteLog()
  const store = log.open()
  await store.migrate()
  expect(broken(await store.inspect.report())).toEqual([])
  await rm(log.args[1]!)
  await expect(store.inspect.report()).rejects.toThrow(/was removed, replaced or cut while it is open/)
  await store.close().catch(() => {})
  await log.remove()
})

test('a transaction that is open too long and old transaction ids are named, with what to do', () => {
  const fine = { longest_s: 30, dead: 50_000, age: 200_000_000 }
  expect(growthFindings(fine, 'log').filter(({ ok }) => !ok)).toEqual([])
  const worse = growthFindings({ longest_s: 3_600, dead: 50_000, age: 900_000_000 }, 'log')
  expect(worse.filter(({ ok }) => !ok)).toMatchObject([
    { name: 'longest transaction', value: '3600 s', fix: expect.stringContaining('End it') },
    { name: 'transaction ids', value: '900 million since the oldest vacuum' },
  ])
})

test('rows of the work table that a long transaction keeps from being reclaimed are counted', async () => {
  const log = await postgresLog()
  const store = log.open()
  try {
    await store.migrate()
    await log.sql('alter table log.work set (autovacuum_enabled = off)')
    await log.sql(
      "insert into log.work (seq, source, next_at) select n, 'shop', now() from generate_series(1, 120000) n",
    )
    await log.sql('delete from log.work')
    await expect
      .poll(async () => broken(await store.inspect.report()).map(({ name, fix }) => `${name}: ${fix}`))
      .toEqual([expect.stringMatching(/^work table: .*vacuum \w+\.work;$/)])
    await log.sql('vacuum log.work')
    await expect.poll(async () => broken(await store.inspect.report())).toEqual([])
  } finally {
    await store.close()
    await log.remove()
  }
})
