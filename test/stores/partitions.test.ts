/** Partitions of payloads, on PostgreSQL: made ahead and on demand, dropped whole, never with bytes that must stay. */

import { type PostgresOptions, postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { postgresSchemaLog, type SharedLog } from '../support/logs.js'

const DAY_MS = 86_400_000
const url = inject('postgresUrl')
let log: SharedLog
let schema: string
let outside: pg.Client
const stores: CompleteStore[] = []

beforeEach(async () => {
  log = await postgresSchemaLog()
  schema = log.args[2]!
  outside = new pg.Client({ connectionString: url })
  await outside.connect()
})
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await outside.end()
  await log.remove()
})

function open(options: Partial<PostgresOptions> = {}): CompleteStore {
  const store = postgres({ url, schema, ...options })
  stores.push(store)
  return store
}

async function fresh(options: Partial<PostgresOptions> = {}): Promise<CompleteStore> {
  const store = open(options)
  await store.migrate()
  return store
}

/** The log's clock shows this instant, and goes on from there. */
const setClock = (at: number) =>
  log.sql(`create or replace function log.clock() returns timestamptz language sql stable as
    $$ select statement_timestamp() + make_interval(secs => ${(at - Date.now()) / 1000}) $$`)

interface Partition {
  name: string
  low: Date
  high: Date
}

async function partitions(): Promise<Partition[]> {
  return (await outside.query(`select * from ${schema}.payload_partitions() order by low`)).rows
}

const key = (eventId: string, source = 'shop') => ({ source, id: eventId })

async function record(store: CompleteStore, eventId: string, receivedAt?: number, source = 'shop') {
  const [verdicts] = await store.record([
    {
      source,
      headers: {},
      body: Buffer.from(`body of ${eventId}`),
      events: [{ id: eventId, type: 'order.paid', reference: null, contentHash: null, guardHash: null }],
      contentGuard: 'review',
      ...(receivedAt === undefined ? {} : { receivedAt }),
    },
  ])
  return verdicts![0]!
}

async function settle(
  store: CompleteStore,
  eventId: string,
  kind: 'succeeded' | 'dead' = 'succeeded',
  source = 'shop',
) {
  const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000, event: key(eventId, source) })
  const outcome =
    kind === 'dead' ? ({ kind: 'failed', error: 'no', retryInMs: null } as const) : ({ kind } as const)
  expect(await store.settle([{ lease: claimed!.lease, outcome, durationMs: 1 }])).toEqual([true])
}

async function done(store: CompleteStore, eventId: string, receivedAt: number, source = 'shop') {
  await record(store, eventId, receivedAt, source)
  await settle(store, eventId, 'succeeded', source)
}

const bodyOf = async (store: CompleteStore, eventId: string, source = 'shop') => {
  const payload = await store.inspect.payload(key(eventId, source))
  return payload && Buffer.from(payload.body).toString()
}

/** Ranges join without a gap in the stretch given, and no two overlap. */
function whole(list: readonly Partition[], from: number): void {
  const later = list.filter((one) => one.high.getTime() > from)
  later.forEach((one, i) => {
    if (i > 0) expect(one.low).toEqual(later[i - 1]!.high)
  })
}

describe('partitions are made', () => {
  test('ahead of now, and none of them takes what has no place', async () => {
    const store = await fresh()
    const later = Date.UTC(2031, 6, 9, 12)
    await setClock(later)
    const report = await store.retention.maintain({ payloadsBefore: {} })
    expect(report).toMatchObject({ dropped: [], ahead: 3, busy: false })
    expect(report.created).toHaveLength(4)
    expect((await partitions()).every((one) => one.low !== null && one.high !== null)).toBe(true)
    whole(await partitions(), later)
    expect(await store.retention.maintain({ payloadsBefore: {} })).toMatchObject({ created: [], ahead: 3 })
  })

  test('on demand when the process was down for months', async () => {
    const store = await fresh()
    await record(store, 'before')
    const later = Date.UTC(2031, 6, 9, 12)
    await setClock(later)
    expect(await record(store, 'after')).toMatchObject({ status: 'recorded' })
    expect(await record(store, 'before')).toMatchObject({ status: 'duplicate' })
    expect((await store.get(key('after')))!.receivedAt).toBeGreaterThanOrEqual(later)
    expect(await store.retention.maintain({ payloadsBefore: {} })).toMatchObject({ ahead: 3 })
    const around = (await partitions()).filter((one) => one.high.getTime() > later)
    expect(around.map((one) => one.name)).toEqual([
      'payloads_y2031m07',
      'payloads_y2031m08',
      'payloads_y2031m09',
      'payloads_y2031m10',
    ])
  })

  test('by day from where the months end, and by month again, on a log with data', async () => {
    const at = Date.UTC(2030, 0, 15, 12)
    const store = await fresh()
    await setClock(at)
    await record(store, 'in a month')
    const months = (await partitions()).filter((one) => one.high.getTime() > at)
    const days = open({ partitions: 'day' })
    expect(await days.retention.maintain({ payloadsBefore: {} })).toMatchObject({ created: [] })
    const firstDay = months.at(-1)!.high.getTime()
    await setClock(firstDay + DAY_MS / 2)
    const { created } = await days.retention.maintain({ payloadsBefore: {} })
    expect(created).toEqual([
      'payloads_y2030m03d01',
      'payloads_y2030m03d02',
      'payloads_y2030m03d03',
      'payloads_y2030m03d04',
    ])
    await record(days, 'in a day')
    const again = open({ partitions: 'month' })
    await setClock(firstDay + 4.5 * DAY_MS)
    expect((await again.retention.maintain({ payloadsBefore: {} })).created).toEqual([
      'payloads_y2030m03d05_to_y2030m04d01',
      'payloads_y2030m04',
      'payloads_y2030m05',
      'payloads_y2030m06',
    ])
    // A late one, before everything that is there.
    await record(days, 'late', at - 100 * DAY_MS)
    whole(await partitions(), at)
    for (const id of ['in a month', 'in a day', 'late']) expect(await bodyOf(again, id)).toBe(`body of ${id}`)
  })

  test('a session in another time zone and date style makes the same ones', async () => {
    const store = await fresh()
    await outside.query(`set timezone = 'Pacific/Auckland'; set datestyle = 'SQL, DMY'`)
    const { rows } = await outside.query(
      `select * from ${schema}.ensure_partitions('2040-05-31 23:30:00+00', 1, 'month')`,
    )
    expect(rows.map((row) => row.ensure_partitions)).toEqual(['payloads_y2040m05', 'payloads_y2040m06'])
    await record(store, 'last hour', Date.UTC(2040, 4, 31, 23, 59))
    const { rows: counted } = await outside.query(
      `select count(*)::int as n from ${schema}.payloads_y2040m05`,
    )
    expect(counted[0].n).toBe(1)
  })
})

describe('a partition is dropped', () => {
  const old = Date.UTC(2025, 2, 10)
  const march = { name: 'payloads_y2025m03', from: Date.UTC(2025, 2, 1), to: Date.UTC(2025, 3, 1) }

  test('when it lies before the horizon of every source in it, and its events stay as guards', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    await done(store, 'b', old + DAY_MS, 'crm')
    await done(store, 'edge', march.to)
    expect((await store.retention.maintain({ payloadsBefore: { shop: march.to } })).dropped).toEqual([])
    const both = { shop: march.to, crm: march.to - 1 }
    expect((await store.retention.maintain({ payloadsBefore: both })).dropped).toEqual([])
    const all = { shop: march.to, crm: Date.UTC(2025, 5, 5) }
    const dry = await store.retention.maintain({ payloadsBefore: all, dryRun: true })
    expect(dry.dropped).toEqual([{ ...march, payloads: 2 }])
    expect(await bodyOf(store, 'a')).toBe('body of a')
    const report = await store.retention.maintain({ payloadsBefore: all })
    expect(report.dropped).toEqual(dry.dropped)
    expect((await partitions()).map((one) => one.name)).not.toContain(march.name)
    expect(await store.get(key('a'))).toMatchObject({
      payload: 'removed',
      state: 'succeeded',
    })
    expect(await record(store, 'a', old)).toMatchObject({ status: 'duplicate', final: true })
    expect(await bodyOf(store, 'edge')).toBe('body of edge')
  })

  test('not while an unfinished event has its bytes in it; the others in it are pruned one by one', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    await record(store, 'pending', old)
    await record(store, 'dead', old + 2 * DAY_MS)
    await settle(store, 'dead', 'dead')
    const payloadsBefore = { shop: Date.UTC(2025, 4, 15) }
    for (const id of ['pending', 'dead']) {
      const report = await store.retention.maintain({ payloadsBefore })
      expect(report.dropped).toEqual([])
      const prune = { source: 'shop', payloadsBefore: report.pruneBefore.shop!, limit: 100 }
      expect((await store.retention.prune(prune)).payloads).toBe(1)
      expect(await bodyOf(store, 'dead')).toBe('body of dead')
      if (id === 'pending') await settle(store, 'pending')
    }
    await store.operate({ verb: 'ignore', events: [key('dead')], actor: 'ada', note: '' })
    expect((await store.retention.maintain({ payloadsBefore })).dropped).toEqual([{ ...march, payloads: 1 }])
  })

  test('what is left to prune one by one ends where a partition that goes later begins', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    const { pruneBefore } = await store.retention.maintain({
      payloadsBefore: { shop: old + DAY_MS, crm: Date.UTC(2020, 0, 1) },
    })
    expect(pruneBefore).toEqual({ shop: march.from, crm: Date.UTC(2020, 0, 1) })
  })

  test('by one process at a time', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    const lock = `hookonce maintain ${schema}`
    await outside.query('select pg_advisory_lock(hashtextextended($1, 0))', [lock])
    const payloadsBefore = { shop: Date.now() }
    expect(await store.retention.maintain({ payloadsBefore })).toMatchObject({
      busy: true,
      dropped: [],
      created: [],
    })
    await outside.query('select pg_advisory_unlock(hashtextextended($1, 0))', [lock])
    expect((await store.retention.maintain({ payloadsBefore })).dropped).toHaveLength(1)
  })

  test('with what no archive holds moved to a new one, when only archived bytes may go', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    await done(store, 'late', old)
    const { deliveries } = await store.archive.export({
      source: 'shop',
      from: 0,
      to: Date.now(),
      after: 0,
      limit: 10,
    })
    await store.archive.archived([
      { source: 'shop', day: '2025-03-10', object: 1, sha256: '0'.repeat(64), seqs: [deliveries[0]!.seq] },
    ])
    const options = { payloadsBefore: { shop: march.to }, archivedOnly: ['shop'] }
    expect((await store.retention.maintain(options)).dropped).toEqual([{ ...march, payloads: 1 }])
    expect([await bodyOf(store, 'a'), await bodyOf(store, 'late')]).toEqual([null, 'body of late'])
    await store.archive.archived([
      { source: 'shop', day: '2025-03-10', object: 2, sha256: '0'.repeat(64), seqs: [deliveries[1]!.seq] },
    ])
    expect((await store.retention.maintain(options)).dropped).toMatchObject([{ payloads: 1 }])
    expect(await bodyOf(store, 'late')).toBeNull()
  })

  test('also after a process died between detaching and dropping, without the bytes of an event that lives again', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    await done(store, 'again', old)
    await log.sql(`insert into log.dropping (name, low, high) values ('${march.name}',
      '2025-03-01 00:00+00', '2025-04-01 00:00+00')`)
    const replay = { verb: 'replay', actor: 'a', note: '', force: true } as const
    await store.operate({ ...replay, events: [key('again')] })
    await log.sql(`alter table log.payloads detach partition log.${march.name}`)
    expect(await bodyOf(store, 'again')).toBeNull()
    const refused = { done: false, code: 'PAYLOAD_REMOVED' }
    expect(await store.operate({ ...replay, events: [key('a')] })).toEqual([refused])
    // Meanwhile a late one of the same month needs a place of its own.
    await record(store, 'late', old)
    expect((await store.retention.maintain({ payloadsBefore: { shop: march.to } })).dropped).toEqual([
      { ...march, payloads: 1 },
    ])
    expect(await bodyOf(store, 'again')).toBe('body of again')
    expect(await bodyOf(store, 'late')).toBe('body of late')
    expect(await bodyOf(store, 'a')).toBeNull()
    const { rows } = await outside.query(`select * from ${schema}.dropping`)
    expect(rows).toEqual([])
  })

  test('also after detaching was interrupted half-way', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    await reader.query(`begin; select 1 from ${schema}.payloads limit 1`)
    await log.sql(`insert into log.dropping (name, low, high) values ('${march.name}',
      '2025-03-01 00:00+00', '2025-04-01 00:00+00')`)
    await outside.query(`set lock_timeout = '100ms'`)
    const detach = `alter table ${schema}.payloads detach partition ${schema}.${march.name} concurrently`
    await expect(outside.query(detach)).rejects.toMatchObject({ code: '55P03' })
    await reader.query('commit')
    await reader.end()
    expect((await store.retention.maintain({ payloadsBefore: { shop: march.to } })).dropped).toEqual([
      { ...march, payloads: 1 },
    ])
  })

  test('not when the decision of a process that died no longer holds', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    await log.sql(`insert into log.dropping (name, low, high) values ('${march.name}',
      '2025-03-01 00:00+00', '2025-04-01 00:00+00')`)
    expect((await store.retention.maintain({ payloadsBefore: { shop: old } })).dropped).toEqual([])
    expect(await bodyOf(store, 'a')).toBe('body of a')
  })

  test('without making those who record and read wait', async () => {
    const store = await fresh()
    await done(store, 'a', old)
    // A long transaction that has read payloads: detaching waits for it, nobody else does.
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    await reader.query(`begin; select 1 from ${schema}.payloads limit 1`)
    const maintaining = store.retention.maintain({ payloadsBefore: { shop: march.to } })
    await expect.poll(async () => (await outside.query(`select * from ${schema}.dropping`)).rowCount).toBe(1)
    expect(await record(store, 'new')).toMatchObject({ status: 'recorded' })
    expect(await bodyOf(store, 'new')).toBe('body of new')
    await reader.query('commit')
    await reader.end()
    expect((await maintaining).dropped).toHaveLength(1)
  })
})
