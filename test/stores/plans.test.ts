/**
 * The plan of every statement that the store sends, as the server ran it (auto_explain), on a log of 50,000 events with a
 * backlog of 5,000: no statement reads a large table from its beginning to its end, and none reads more rows than its
 * limit allows. The same calls run with plans that were made while the log was empty, with statistics of an empty log, and
 * with fresh ones.
 */

import { createHash } from 'node:crypto'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import type { CompleteStore, Lease, NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'

const EVENTS = 50_000
const BACKLOG = 5_000
/** The seqs before it are taken by the calls on the empty log. */
const FIRST = 1_000
/** Tables that grow with the log. Their plans must be bounded by the limit of the call. */
const LARGE =
  /^(events|work|attempts|effects|duplicates|payloads\w*|keys|audit|guards|watermarks|conflicts|event_references)$/
/** The most rows that a statement reads: a list looks at 10,000, a portion of retention at 20,000. */
const ROWS_AT_MOST = 21_000

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

let statements = 0
/** Parts of statements that must be among the explained ones: of maintenance, of a trigger, and of keys. */
const unseen = new Set(['folded as (', 'inhdetachpending', '.totals as t', 'update "hookonce".keys'])
const unbounded = new Set<string>()

/** Sends each plan to the client, as a notice. */
const explained =
  '-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c auto_explain.log_analyze=on ' +
  '-c auto_explain.log_level=warning -c auto_explain.log_timing=off -c auto_explain.log_nested_statements=on -c auto_explain.log_format=json ' +
  '-c client_min_messages=log'

class ExplainedClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('notice', ({ message }) => {
      const json = /^duration: .* plan:\s*(\{.*\})\s*$/s.exec(message ?? '')?.[1]
      if (json === undefined) return
      statements++
      const { 'Query Text': text, Plan: plan } = JSON.parse(json) as { 'Query Text': string; Plan: Plan }
      for (const part of unseen) if (text.includes(part)) unseen.delete(part)
      for (const problem of problemsOf(plan))
        unbounded.add(`${problem}: ${text.replace(/\s+/g, ' ').slice(0, 200)}`)
    })
  }
}

function problemsOf(plan: Plan): string[] {
  const { 'Relation Name': table = '', 'Actual Loops': loops = 0 } = plan
  const rows = ((plan['Actual Rows'] ?? 0) + (plan['Rows Removed by Filter'] ?? 0)) * loops
  const below = (plan.Plans ?? []).flatMap(problemsOf)
  if (!LARGE.test(table) || loops === 0) return below
  if (plan['Node Type'] === 'Seq Scan' && rows > 0) return [...below, `Seq Scan of ${table}, ${rows} rows`]
  return rows > ROWS_AT_MOST
    ? [...below, `${plan['Node Type']} of ${table} by ${plan['Index Name']}, ${rows} rows`]
    : below
}

let database: TestDatabase
let outside: pg.Client
const pools: pg.Pool[] = []
const stores: CompleteStore<PostgresTx>[] = []

beforeAll(async () => {
  database = await freshDatabase()
  outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
})
afterAll(async () => {
  for (const store of stores) await store.close()
  for (const pool of pools) await pool.end()
  await outside.end()
  await database.drop()
})

function open(): CompleteStore<PostgresTx> {
  const pool = new pg.Pool({
    connectionString: database.url,
    options: explained,
    max: 2,
    Client: ExplainedClient,
  } as pg.PoolConfig)
  pool.on('error', () => {}) // the server may end a connection that is being closed, to drop the database
  const store = postgres({ pool, maxConnections: 1 })
  pools.push(pool)
  stores.push(store)
  return store
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

const references = [
  { label: 'object', value: 'ref' },
  { label: 'customer', value: 'person 1' },
]

function delivery(eventId: string, body = eventId, contentHash: Buffer | null = null): NewDelivery {
  return {
    source: 'source-1',
    headers: {},
    body: Buffer.from(body),
    events: [{ id: eventId, type: 'order.paid', reference: 'ref', references, contentHash, guardHash: null }],
    contentGuard: 'review',
  }
}

/** Every verb of the store. `name` makes the ids of a run its own. */
async function everyVerb(store: CompleteStore<PostgresTx>, name: string): Promise<void> {
  const ids = Array.from({ length: 20 }, (_, i) => `${name}-${i}`)
  await store.record(ids.map((id) => delivery(id)))
  await store.record([delivery(ids[0]!)])
  await store.record([delivery(ids[1]!, 'another body')])
  const inConflict = ['first', 'second'].map((body) => delivery(`${name}-conflict`, body, sha256(body)))
  for (const one of inConflict) await store.record([one])
  const decided = [{ source: 'source-1', id: `${name}-conflict` }]
  await store.operate({ verb: 'ignore', events: decided, actor: 'test', note: 'test', conflict: true })
  await store.duplicates.flush()
  const claimed = await store.claim({ worker: 'w', limit: 12, leaseMs: 60_000 })
  const leases = claimed.map(({ lease }) => lease)
  await store.claim({ worker: 'w', limit: 4, leaseMs: 60_000, sources: ['source-1', 'source-2'] })
  const except = [{ source: 'source-1', type: 'order.sent' }]
  await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000, sources: ['source-1'], except })
  await store.extend(leases, 60_000)
  const succeeded = { kind: 'succeeded' } as const
  for (const name of ['told', 'not']) await store.keys.effect({ step: 'start', lease: leases[2]!, name })
  await store.settle([
    { lease: leases[0]!, outcome: succeeded, durationMs: 1, references },
    { lease: leases[1]!, outcome: { kind: 'failed', error: 'no', retryInMs: 10_000 }, durationMs: 1 },
    { lease: leases[2]!, outcome: { kind: 'failed', error: 'no', retryInMs: null }, durationMs: 1 },
    { lease: leases[3]!, outcome: { kind: 'ignored', reason: 'no' }, durationMs: 1 },
  ])
  await everyKey(store, leases[5]!, name)
  const transaction = await store.transaction()
  await transaction.keys!.advance({ source: 'source-1', key: name, value: 1 })
  await transaction.replies!.put(claimed[4]!, { httpStatus: 200, headers: {}, body: Buffer.from('hello') })
  await transaction.finish([{ lease: leases[4]!, outcome: succeeded, durationMs: 1 }])
  await store.release(leases.slice(5), 0)

  const key = { source: 'source-1', id: ids[0]! }
  const events = claimed.slice(0, 4).map(({ source, id }) => ({ source, id: id }))
  const effects = { told: '1', not: null }
  await store.operate({ verb: 'retry', events: [events[2]!], actor: 'test', note: 'test', effects })
  for (const verb of ['retry', 'ignore', 'replay'] as const)
    await store.operate({ verb, events, actor: 'test', note: 'test', force: true })
  await store.operate({ verb: 'ignore', events: decided, actor: 'test', note: 'test' })
  await store.operate({ verb: 'replay', events: decided, actor: 'test', note: 'test', conflict: true })
  await store.get(key)
  await store.tail({ after: 0, limit: 100 })
  await store.stats()
  await store.ping()
  const filters = [
    {},
    { state: 'pending' },
    { state: 'processing' },
    { state: 'failed' },
    { state: 'failed', dead: true },
    { state: 'ignored' },
    { source: 'source-1' },
    { type: 'order.paid' },
    { type: 'order.*' },
    { reference: 'ref' },
    { reference: 'person 7' },
    { reference: 'person 7', label: 'customer' },
    { id: ids[0]! },
    { hasDuplicates: true },
    { hasConflict: true },
    { flagged: true },
    { from: Date.now() - 3_600_000 },
    { source: 'source-1', state: 'succeeded' },
  ] as const
  for (const filter of filters) await store.list(filter, { limit: 20 })
  await store.inspect.payload(key)
  await store.replies.get(claimed[4]!)
  await store.inspect.attempts(key)
  await store.inspect.effects(key)
  await store.inspect.conflict(decided[0]!)
  await store.inspect.openConflicts(20)
  await store.inspect.deadLetters({ limit: 20 })
  await store.inspect.leases()
  const inLane = ids.slice(0, 3).map((id) => delivery(`${id} in a lane`))
  for (const { events, ...more } of inLane)
    await store.record([{ ...more, events: events.map((event) => ({ ...event, lane: name })) }])
  const unfinished = (await store.inspect.oldest(50)).map(({ seq }) => seq)
  const { events: newest } = await store.list({ state: 'pending' }, { limit: 50 })
  await store.inspect.standings([...unfinished, ...newest.map(({ seq }) => seq)])
  const pause = { source: 'source-1', type: name, actor: 'test', note: 'test' }
  await store.pauses.pause(pause)
  await store.pauses.list()
  await store.pauses.resume(pause)
  await store.inspect.types(20)
  await store.inspect.idsFrom(name, 10)
  await store.inspect.report()
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000
  await store.history.read({ from: hour - 86_400_000, to: hour + 3_600_000, stepMs: 3_600_000 })
  await store.history.processes()
  await store.history.handled()
  const facts = { id: name, version: '1', node: '20', host: 'h', pid: 1, worker: null }
  const counts = [{ source: 'source-1', name: 'recorded', value: 20 }]
  await store.history.add({ counts, process: facts })
  const audit = { actor: 'test', verb: 'payload', source: 'source-1', eventId: ids[0]!, note: 'test' }
  await store.audit.append([audit, { ...audit, source: null, eventId: null }])
  await store.audit.list({}, { limit: 20 })
  await store.audit.list({ source: 'source-1', eventId: ids[0]! }, { limit: 20 })
  await everyImport(store, name)
  await everyConsumer(store, name)
  await everyArchive(store)
  await store.archive.erase({ reference: 'person 7', actor: 'test', note: 'test', limit: 20, dryRun: true })
  await store.archive.erase({
    reference: 'person 7',
    label: 'customer',
    actor: 'test',
    note: 'test',
    limit: 20,
  })
  await store.archive.erase({ reference: 'customer 7', actor: 'test', note: 'test', limit: 20 })
  const before = Date.now() - 59 * 86_400_000
  await store.retention.prune({
    source: 'source-1',
    payloadsBefore: before,
    eventsBefore: before,
    attemptsBefore: before,
    auditsBefore: before,
    limit: 20,
  })
}

async function everyKey(store: CompleteStore<PostgresTx>, lease: Lease, name: string): Promise<void> {
  await store.keys.effect({ step: 'start', lease, name: 'mail' })
  await store.keys.effect({ step: 'finish', lease, name: 'mail', result: '1' })
  await store.keys.effect({ step: 'start', lease, name: 'other' })
  await store.keys.effect({ step: 'drop', lease, name: 'other' })
  for (const step of ['finish', 'drop'] as const) {
    const key = `${name} ${step}`
    const held = await store.keys.key({ step: 'take', key, leaseMs: 60_000 })
    if (held.state !== 'taken') throw new Error(`the key is ${held.state}`)
    const { token } = held
    await store.keys.key({ step: 'take', key, leaseMs: 60_000 })
    await store.keys.key({ step: 'extend', key, token, leaseMs: 60_000 })
    if (step === 'drop') await store.keys.key({ step, key, token })
    else await store.keys.key({ step, key, token, result: '1', ttlMs: 60_000 })
  }
  await store.keys.watermark('source-1', name)
  await store.keys.place?.()
}

async function everyImport(store: CompleteStore<PostgresTx>, name: string): Promise<void> {
  const imported = Array.from({ length: 100 }, (_, i) => ({
    source: 'source-1',
    id: `${name}-imported-${i}`,
    type: 'order.paid',
    reference: 'imported',
    references,
    receivedAt: Date.now() - i * 3_600_000,
    processedAt: null,
    state: 'succeeded' as const,
    reason: null,
    payload: { headers: {}, body: Buffer.from('{}') },
  }))
  await store.imports.add(imported)
  await store.imports.add(imported)
  await store.imports.known(imported)
}

async function everyConsumer(store: CompleteStore<PostgresTx>, name: string): Promise<void> {
  const source = `source-1/${name}`
  await store.consumers.open([{ source, from: 'now' }])
  const { position: from } = (await store.consumers.list()).find((consumer) => consumer.source === source)!
  const { events } = await store.list({ source: 'source-1' }, { limit: 50 })
  const copied = events.map(({ seq }) => ({ seq, lane: null }))
  expect(await store.consumers.copy({ source, from, to: from + 1, events: copied })).toBe(true)
}

async function everyArchive(store: CompleteStore<PostgresTx>): Promise<void> {
  const source = 'source-1'
  const all = { source, from: 0, to: Date.now(), after: 0, limit: 20 }
  const { deliveries } = await store.archive.export(all)
  await store.archive.export({ ...all, unarchived: true })
  const day = new Date(deliveries[0]!.receivedAt).toISOString().slice(0, 10)
  await store.archive.archived([
    { source, day, object: 1, sha256: '0'.repeat(64), seqs: deliveries.map(({ seq }) => seq) },
  ])
  expect(await store.archive.receipts({ source, day })).toHaveLength(1)
  await outside.query('delete from hookonce.payloads where seq = any($1::bigint[])', [
    deliveries.map(({ seq }) => seq),
  ])
  expect(await store.archive.restore(deliveries)).toContain(true)
  // Due for every source, but each month has dead letters: whether a partition may be dropped is decided, and none with rows is.
  const sources = Array.from({ length: 20 }, (_, i) => `source-${i}`)
  const before = Date.now() - 20 * 86_400_000
  const payloadsBefore = Object.fromEntries(sources.map((name) => [name, before]))
  const { dropped, busy } = await store.retention.maintain({ payloadsBefore })
  expect({ busy, dropped: dropped.filter(({ payloads }) => payloads > 0) }).toEqual({
    busy: false,
    dropped: [],
  })
}

/** Finished events of the past 60 days with an attempt each, some dead or ignored, and the backlog as the newest. */
const filling = `
  select hookonce.ensure_partitions(now() - interval '61 days', 4, 'month');
  insert into hookonce.events (seq, batch, received_at, source, event_id, event_type, related_reference, parked, reason)
    select n, n / 64, now() - (${EVENTS} - n) * interval '60 days' / ${EVENTS}, 'source-' || n % 20, 'evt-' || n,
      'order.' || n % 50, 'customer ' || n % 5000,
      case when n > ${EVENTS - BACKLOG} then null when n % 1000 = 7 or n = ${FIRST} then 'dead' when n % 100 = 3 then 'ignored' end,
      case when n % 1000 = 7 then 'no' end
    from generate_series(${FIRST}, ${EVENTS}) n;
  insert into hookonce.event_references (seq, label, value)
    select n, 'customer', 'person ' || n % 5000 from generate_series(${FIRST}, ${EVENTS}) n;
  insert into hookonce.payloads (seq, received_at, source, headers, body)
    select seq, received_at, source, '{}', 'x' from hookonce.events where seq >= ${FIRST};
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
    select seq, 1, 1, 'w', received_at, received_at,
      case parked when 'dead' then 'failed' when 'ignored' then 'ignored' else 'succeeded' end
    from hookonce.events where seq <= ${EVENTS - BACKLOG} and seq >= ${FIRST};
  insert into hookonce.effects (seq, name, started_at, finished_at)
    select seq, 'mail', received_at, received_at from hookonce.events where seq between ${FIRST} and ${EVENTS - BACKLOG};
  insert into hookonce.keys (key, token, held_until, finished_at, expires_at, result)
    select 'key ' || n, gen_random_uuid(), now(), now(), now() + interval '1 day', '1' from generate_series(1, ${EVENTS}) n;
  insert into hookonce.watermarks (source, key, value) select 'source-1', 'mark ' || n, n from generate_series(1, ${EVENTS}) n;
  insert into hookonce.audit (at, actor, verb, source, event_id, note)
    select now() - (${EVENTS} - n) * interval '1 minute', 'a', 'payload', 'source-' || n % 20, 'evt-' || n, 'r'
    from generate_series(1, ${EVENTS}) n;
  insert into hookonce.conflicts (seq, hash, source, first_at, at, decided_at, part, headers, body)
    select seq, sha256(seq::text::bytea), source, received_at, received_at, case when seq % 3 = 0 then received_at end, 0, '{}', 'other' from hookonce.events where seq >= ${FIRST};
  insert into hookonce.guards (source, guard_hash, event_id)
    select 'source-' || n % 20, sha256(n::text::bytea), 'evt-' || n from generate_series(1, ${EVENTS}) n;
  insert into hookonce.work (seq, source, next_at)
    select seq, source, received_at from hookonce.events where seq > ${EVENTS - BACKLOG};
  insert into hookonce.duplicates (seq, count, first_at, last_at, conflicts)
    select n, 1, now(), now(), 0 from generate_series(${FIRST + 1}, ${EVENTS}, 10) n;
  insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
    select source, date_trunc('hour', received_at, 'UTC'), 1, count(*), count(*) filter (where parked = 'ignored'),
      count(*) filter (where parked = 'dead'), min(seq), max(seq)
    from hookonce.events where seq >= ${FIRST} group by 1, 2;
  select setval('hookonce.event_seq', ${EVENTS + 1})`

test('no plan reads a large table as a whole', async () => {
  const first = open()
  await first.migrate()
  // Statistics must not be refreshed by chance.
  const { rows: tables } = await outside.query(
    `select c.oid::regclass as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'hookonce' and c.relkind = 'r'`,
  )
  for (const { name } of tables) await outside.query(`alter table ${name} set (autovacuum_enabled = off)`)
  await everyVerb(first, 'empty')
  unbounded.clear()
  statements = 0

  await outside.query(filling)
  await everyVerb(first, 'planned-before')
  expect({ plans: 'made while the log was empty', unbounded: [...unbounded] }).toEqual({
    plans: 'made while the log was empty',
    unbounded: [],
  })
  await everyVerb(open(), 'stale')
  expect({ statistics: 'none', unbounded: [...unbounded] }).toEqual({ statistics: 'none', unbounded: [] })
  await outside.query('analyze')
  await everyVerb(open(), 'fresh')
  expect({ statistics: 'fresh', unbounded: [...unbounded] }).toEqual({ statistics: 'fresh', unbounded: [] })
  expect(statements).toBeGreaterThan(300)
  expect([...unseen]).toEqual([])
})
