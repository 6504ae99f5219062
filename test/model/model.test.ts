/**
 * The model of the log (`rules.pml`): its rules keep the promises in every order of a few steps, each of its guards is
 * needed, and what both stores do is a trace of it. The verdict on a store is that of the trace alone.
 */
import { randomUUID } from 'node:crypto'
import { unverified } from 'hookonce/providers'
import type { NewDelivery } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { type Bench, ids, onBothLogs, post, shop, stateOf, until } from '../support/processing.js'
import { type Change, traceOf } from './history.js'
import { explore, follow, type Part } from './spin.js'
import { changeOf, watchPostgres, watchSqlite } from './watch.js'

const parts: readonly Part[] = ['INTAKE', 'LEASES', 'CONSUMERS']
const needed: readonly (readonly [string, Part])[] = [
  ['KEY', 'INTAKE'],
  ['ACK', 'INTAKE'],
  ['DRAIN', 'INTAKE'],
  ['LANE', 'LEASES'],
  ['FENCE', 'LEASES'],
  ['ATOMICITY', 'LEASES'],
  ['REVIVE', 'LEASES'],
  ['RETENTION', 'CONSUMERS'],
  ['POSITION', 'CONSUMERS'],
]

describe('the model', () => {
  test.each(parts)('%s: no order of steps loses, doubles or blocks an event', async (part) => {
    const { fault, states } = await explore(part)
    expect(fault).toBeNull()
    expect(states).toBeGreaterThan(10_000)
  })

  test.each(needed)('without the rule %s some order breaks a promise', async (rule, part) => {
    expect((await explore(part, [`BROKEN_${rule}`])).fault).not.toBeNull()
  })
})

describe('a history of transactions that overlap', () => {
  const by = (tx: number) => ({ at: 0, tx, sees: { min: tx, max: tx, open: [] } })
  const added = (
    tx: number,
    event: { seq: number; source?: string; lane?: string; token?: string },
  ): Change[] => {
    const { seq, source = 'shop', lane = null, token = null } = event
    return [
      { table: 'events', was: null, is: { seq, source, event_id: lane ? `e${seq}` : 'e1' }, ...by(tx) },
      { table: 'work', was: null, is: { seq, lane, token, attempt: token ? 1 : 0 }, ...by(tx) },
    ]
  }
  const position = (value: number) => ({ source: 'shop/mail', position: value })
  const moved = (tx: number, from: number, to: number): Change => ({
    table: 'consumers',
    was: position(from),
    is: position(to),
    ...by(tx),
  })
  const claimed = (tx: number, seq: number): Change => ({
    table: 'work',
    was: { seq, token: null },
    is: { seq, token: 't', attempt: 1 },
    ...by(tx),
  })
  const steps = ({ about }: { about: readonly string[] }) =>
    about.filter((line) => !line.startsWith('COMMIT')).map((line) => line.split(' ')[0])

  test('has a copy behind the event that it copies, when nothing saw either of them before', async () => {
    const history = [
      ...added(10, { seq: 1 }),
      ...added(11, { seq: 2, source: 'shop/mail' }),
      moved(11, 0, 1),
      moved(12, 1, 5),
      claimed(13, 1),
    ]
    const trace = traceOf(history, { leaseMs: 1_000 })
    expect(await follow(trace)).toBeNull()
    expect(steps(trace)).toEqual(['RECORD', 'MOVE', 'COPY', 'MOVE', 'CLAIM', 'ATTEMPT'])
  })

  test('has a copy directly behind the new position, whatever other transactions write meanwhile', async () => {
    const before = { min: 11, max: 11, open: [] }
    const effect: Change = { table: 'effects', was: null, is: { event: 'e1' }, at: 0, tx: 12, sees: before }
    const history = [
      ...added(10, { seq: 1 }),
      claimed(12, 1),
      moved(11, 0, 1),
      effect,
      ...added(11, { seq: 2, source: 'shop/mail' }),
    ]
    const trace = traceOf(history, { leaseMs: 1_000 })
    expect(await follow(trace)).toBeNull()
    expect(steps(trace)).toEqual(['RECORD', 'CLAIM', 'ATTEMPT', 'EFFECT', 'MOVE', 'COPY'])
  })

  test('goes by the seqs of a lane, whichever transaction was first to write', async () => {
    const later = added(10, { seq: 2, lane: 'a' })
    const earlier = added(11, { seq: 1, lane: 'a', token: 't' })
    expect(await follow(traceOf([...later, ...earlier], { leaseMs: 1_000 }))).toBeNull()
    const wrong = [
      ...earlier.map((one) => ({ ...one, is: { ...one.is, token: null } })),
      ...later,
      claimed(12, 2),
    ]
    expect(await follow(traceOf(wrong, { leaseMs: 1_000 }))).toContain('no rule allows "CLAIM')
  })
})

const LEASE_MS = 400
const processing = { lease: LEASE_MS, poll: 20, retry: { firstDelay: 1, maxDelay: 5 } }

/** Writes down every change of the log, and says whether a rule forbids one. */
async function watched(bench: Bench) {
  const isSqlite = bench.kind === 'SQLite'
  const schema = bench.log.args[2]!
  const effects = {
    name: isSqlite ? 'seen_effects' : `"${schema}".seen_effects`,
    columns: ['event', 'attempt'],
  }
  const { install, read } = isSqlite ? watchSqlite(effects) : watchPostgres(schema, effects)
  // Opened first, so that there are tables to watch.
  await bench.store().migrate()
  await bench.log.sql(
    `create table ${effects.name} (event text not null, attempt integer not null);\n${install}`,
  )
  return {
    async write(tx: unknown, event: { id: string }, attempt: number): Promise<void> {
      const values = isSqlite ? '(?, ?)' : '($1, $2)'
      const sql = `insert into ${effects.name} (event, attempt) values ${values}`
      const { run, query } = tx as Record<'run' | 'query', (sql: string, values: unknown[]) => Promise<void>>
      await (isSqlite ? run : query).call(tx, sql, [event.id, attempt])
    },
    async verdict(acknowledged: Iterable<string> = []): Promise<string | null> {
      const history = (await bench.rows(read)).map(changeOf)
      expect(history.length).toBeGreaterThan(0)
      return follow(traceOf(history, { leaseMs: LEASE_MS, acknowledged }))
    },
  }
}

function delivery(events: readonly { id: string; lane: string | null }[]): NewDelivery {
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from('{}'),
    events: events.map(({ id, lane }) => ({
      id,
      type: 't',
      reference: lane,
      contentHash: null,
      guardHash: null,
      lane,
    })),
    contentGuard: 'accept',
  }
}

onBothLogs((bench) => {
  test('deliveries, retries, lanes, consumers, actions and retention are a trace of the model', async () => {
    const { write, verdict } = await watched(bench)
    let failures = 3
    const { inbox } = bench.inbox({ processing })
    inbox.on('shop', 'plain', () => {})
    inbox.on('shop', 'tx', (event, ctx) => write(ctx.tx, event, ctx.attempt))
    inbox.on('shop', 'fails', async (event, ctx) => {
      await write(ctx.tx, event, ctx.attempt)
      if (failures-- > 0) throw new Error('it fails')
    })
    inbox.on('shop', 'ordered', (event, ctx) => write(ctx.tx, event, ctx.attempt), { order: 'reference' })
    inbox.on('shop', 'ignored', (_, ctx) => ctx.ignore('not for us'))
    inbox.on('shop', '*', () => {}, { consumer: 'mail' })
    await inbox.start()
    const types = ['plain', 'tx', 'fails', 'ordered', 'ordered', 'ignored', 'unhandled']
    const acknowledged: string[] = []
    await Promise.all(
      ids(28).map(async (id, i) => {
        const event = { id, type: types[i % types.length]!, ref: 'lane' }
        for (let repeat = 0; repeat < 2; repeat++) expect((await post(inbox, event)).httpStatus).toBe(200)
        acknowledged.push(`shop ${id}`)
      }),
    )
    const open = async () =>
      (await inbox.events.stats()).reduce((n, one) => n + one.pending + one.processing + one.retrying, 0)
    await until(async () => (await open()) === 0, 'everything is finished')
    await inbox.replay({ source: 'shop', id: 'e1' }, { force: true, actor: 'ada', note: 'again' })
    await until(async () => (await open()) === 0, 'the replay is finished')
    expect(await verdict(acknowledged)).toBeNull()
  })

  test('whoever presents the token of a lease that is over writes nothing', async () => {
    const { write, verdict } = await watched(bench)
    const { inbox } = bench.inbox({ processing: false })
    const store = bench.store()
    const claimed = async (worker: string, leaseMs = LEASE_MS) =>
      (await store.claim({ worker, limit: 1, leaseMs }))[0] ?? null
    for (const id of ids(4)) {
      await post(inbox, { id })
      const stale = (await claimed('frozen'))!
      const settlement = { lease: stale.lease, outcome: { kind: 'succeeded' }, durationMs: 1 } as const
      const handled = async () => {
        const { tx, finish } = await store.transaction()
        await write(tx, stale, stale.attempt)
        await finish([settlement]).catch(() => {})
      }
      const settled = async () => {
        const { tx, settle, commit, rollback } = await store.transaction()
        await write(tx, stale, stale.attempt)
        const [isSettled] = await settle([settlement])
        await (isSettled ? commit() : rollback())
      }
      const writes = [
        () => store.extend([stale.lease], LEASE_MS),
        () => store.release([stale.lease]),
        () => store.settle([settlement]),
        handled,
        settled,
      ]
      await until(async () => (await stateOf(inbox, id)) !== 'processing', 'the lease is over')
      // Before and after somebody else has taken the event. The order of the writes is another one for each event.
      const rotated = [...writes.slice(Number(id[1])), ...writes.slice(0, Number(id[1]))]
      for (const late of rotated) await late()
      const next = (await claimed('healthy', 60_000))!
      for (const late of rotated) await late()
      const { tx, finish } = await store.transaction()
      await write(tx, next, next.attempt)
      await finish([{ ...settlement, lease: next.lease }])
    }
    expect(await verdict(ids(4).map((id) => `shop ${id}`))).toBeNull()
  })

  test('two processes that record, copy and remove at once follow the rules', async () => {
    const { write, verdict } = await watched(bench)
    const many = { ...unverified({ id: 'json:id', type: 'json:type', each: 'events[]' }) }
    const { inbox } = bench.inbox({
      processing: false,
      sources: { shop: shop(), many },
      retention: { payloads: 1, events: 1 },
    })
    const stores = [bench.store(), bench.store()] as const
    const [store] = stores
    const deliveries = (prefix: string, lane: string | null) =>
      ids(5, prefix).map((id) => delivery([{ id, lane }]))
    const leased = (given: readonly NewDelivery[]) => ({
      worker: 'w',
      leaseMs: 60_000,
      tokens: new Map(given.flatMap(({ events }) => events.map((event) => [event, randomUUID()] as const))),
    })
    // The same events, and the same lane, in two processes.
    for (const lane of [null, 'lane']) {
      const given = stores.map(() => deliveries(lane ?? 'free', lane))
      await Promise.all(stores.map((one, i) => one.record(given[i]!, leased(given[i]!))))
    }
    for (let settled = 0; settled < 5; settled++) {
      const behind = deliveries(`behind${settled}`, 'lane')
      await store.record(behind, leased(behind))
    }

    await store.consumers.open([{ source: 'shop/mail', from: 0 }])
    const { position, events } = await store.tail({ after: 0, limit: 100, source: 'shop' })
    const copy = { source: 'shop/mail', from: 0, to: position } as const
    const some = events.slice(0, 3).map(({ seq }) => ({ seq, lane: null }))
    const rest = events.slice(3).map(({ seq }) => ({ seq, lane: null }))
    for (const copied of [some, rest]) await store.consumers.copy({ ...copy, events: copied })

    // One event of a delivery has finished, and the other has not.
    await inbox.receive('many', {
      method: 'POST',
      url: '/',
      headers: {},
      body: Buffer.from('{"events":[{"id":"m0","type":"m"},{"id":"m1","type":"m"}]}'),
    })
    const event = { source: 'many', id: 'm0' }
    const [first] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000, event })
    const { tx, finish } = await store.transaction()
    await write(tx, first!, first!.attempt)
    await finish([{ lease: first!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }])
    await until(
      async () => Date.now() > (await inbox.events.get(event))!.receivedAt + 1_000,
      'it is old enough',
    )
    const receivedAt = Date.now() - 400 * 86_400_000
    await store.record([{ ...delivery([{ id: 'old', lane: null }]), receivedAt }])
    await inbox.retain()
    const removed = await inbox.events.get(event)
    if (removed) await inbox.replay(event, { force: true, actor: 'ada', note: 'again' })
    expect(await verdict()).toBeNull()
  })

  test('an event without its payload is not run again', async () => {
    const { verdict } = await watched(bench)
    const { inbox } = bench.inbox({ processing })
    inbox.on('shop', '*', () => {})
    await inbox.start()
    await post(inbox, { id: 'e0', ref: 'ada' })
    const event = { source: 'shop', id: 'e0' }
    await until(async () => (await stateOf(inbox, 'e0')) === 'succeeded', 'it is handled')
    await inbox.erase({ reference: 'ada', actor: 'ada', note: 'asked for' })
    await inbox.replay(event, { force: true, actor: 'ada', note: 'again' })
    await until(async () => (await stateOf(inbox, 'e0')) === 'succeeded', 'nothing runs')
    expect(await verdict(['shop e0'])).toBeNull()
  })
})
