/** The cost of a call grows with the number of its rows: not with their square, and not with the length of the log. */
import { createHash } from 'node:crypto'
import { postgres } from 'hookonce/postgres'
import type { Lease, NewDelivery, Outcome } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { eventsOf, fold } from '#dist/stores/postgres/record-batch.js'
import { freshDatabase } from '../support/database.js'

test('known ids are looked up one by one in the unique index, in a log that has grown since the plan was made', async () => {
  const database = await freshDatabase()
  const outside = new pg.Client({ connectionString: database.url })
  await outside.connect()
  const store = postgres(database.url)
  const delivery = (n: number) => ({
    source: 'shop',
    headers: {},
    body: Buffer.from('x'),
    events: [{ id: `e${n}`, type: 'x', reference: null, contentHash: null, guardHash: null }],
    contentGuard: 'review' as const,
  })
  try {
    await store.migrate()
    // The statement is planned now, while the log is empty.
    await store.record([delivery(0)])
    await outside.query(`
      insert into hookonce.events (batch, received_at, source, event_id, event_type)
      select 1, now(), 'shop', 'e' || n, 'x' from generate_series(1, 100000) n`)
    const rowsRead = async (): Promise<number> => {
      const { rows } = await outside.query(
        `select (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('events', 'work'))::float8
           + (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('events', 'work'))::float8 as n`,
      )
      return rows[0].n
    }
    const before = await rowsRead()
    const known = Array.from({ length: 64 }, (_, i) => delivery(1 + i * 1_500))
    const verdicts = await store.record(known)
    expect(verdicts.every(([verdict]) => verdict!.status === 'duplicate')).toBe(true)
    // The server counts what a connection did when it ends.
    await store.close()
    for (;;) {
      const { rowCount } = await outside.query(
        `select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend'`,
      )
      if (rowCount === 0) break
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect((await rowsRead()) - before).toBeLessThan(64 * 10)
  } finally {
    await store.close()
    await outside.end()
    await database.drop()
  }
})

test('repeats of replayed content in a batch are answered together, and one of another policy is recorded', async () => {
  const database = await freshDatabase()
  let inserts = 0
  class CountingClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the driver
    override query(...args: any[]): any {
      // Other statements run beside it: a notification, the settings of a new connection.
      if (/^\s*with input as/.test(String(args[0]?.text))) inserts++
      return super.query(...(args as [never]))
    }
  }
  const pool = new pg.Pool({
    connectionString: database.url,
    max: 2,
    Client: CountingClient,
  } as pg.PoolConfig)
  const store = postgres({ pool })
  const hash = (text: string) => createHash('sha256').update(text).digest()
  const delivery = (
    eventId: string,
    content = 'signed',
    contentGuard: NewDelivery['contentGuard'] = 'reject',
  ): NewDelivery => ({
    source: 'shop',
    headers: {},
    body: Buffer.from(content),
    events: [
      { id: eventId, type: 'x', reference: null, contentHash: hash(content), guardHash: hash(content) },
    ],
    contentGuard,
  })
  const statusesOf = async (deliveries: NewDelivery[]) =>
    (await store.record(deliveries)).map(([verdict]) => verdict!.status)
  const many = (id: string) => Array.from({ length: 50 }, () => delivery(id))
  try {
    await store.migrate()
    expect(await statusesOf([delivery('original')])).toEqual(['recorded'])
    inserts = 0
    expect(await statusesOf(many('copy'))).toEqual(Array(50).fill('replayed'))
    expect(inserts).toBe(1)
    expect(
      await statusesOf([...many('late'), delivery('late', 'signed', 'review'), ...many('late')]),
    ).toEqual([...Array(50).fill('replayed'), 'recorded', ...Array(50).fill('duplicate')])
  } finally {
    await store.close()
    await pool.end()
    await database.drop()
  }
})

test('the work of folding a batch grows with its size', () => {
  let reads = 0
  const readsOf = (size: number): number => {
    reads = 0
    const deliveries = Array.from({ length: size }, (_, n) => ({
      source: 'shop',
      headers: {},
      body: Buffer.from('x'),
      events: [
        {
          // Each id is there twice.
          get id() {
            reads++
            return `e${n >> 1}`
          },
          type: 'x',
          reference: null,
          contentHash: null,
          guardHash: null,
        },
      ],
      contentGuard: 'review' as const,
    }))
    expect(fold(eventsOf(deliveries)).repeats).toHaveLength(size / 2)
    return reads
  }
  expect(readsOf(2_000)).toBeLessThan(2_000 * 5)
  expect(readsOf(4_000)).toBe(2 * readsOf(2_000))
})

const sha256 = (text: string) => createHash('sha256').update(text).digest()

interface Shape {
  readonly guard?: boolean
  readonly lane?: (n: number) => string
}

/** Deliveries of 250 bytes for each event. */
function deliveries(name: string, count: number, eventsEach: number, { guard, lane }: Shape = {}) {
  return Array.from(
    { length: count },
    (_, d): NewDelivery => ({
      source: 'shop',
      headers: { a: 'b' },
      body: Buffer.alloc(250 * eventsEach, name),
      events: Array.from({ length: eventsEach }, (_, part) => {
        const eventId = `${name} ${d} ${part}`
        return {
          id: eventId,
          type: 'x',
          reference: null,
          contentHash: sha256(eventId),
          guardHash: guard ? sha256(`guard ${eventId}`) : null,
          lane: lane?.(part) ?? null,
        }
      }),
      contentGuard: 'review',
    }),
  )
}

interface Plan {
  readonly [key: string]: unknown
  readonly Plans?: readonly Plan[]
}

/** The rows that the nodes of a plan gave or dropped, and the kilobytes they sorted. */
function workOf(plan: Plan): { rows: number; sortedKb: number } {
  const loops = Number(plan['Actual Loops'] ?? 0)
  const perLoop = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Join Filter']
  let rows = loops * perLoop.reduce((sum, name) => sum + Number(plan[name] ?? 0), 0)
  let sortedKb = Number(plan['Sort Space Used'] ?? 0)
  for (const below of plan.Plans ?? []) {
    const part = workOf(below)
    rows += part.rows
    sortedKb += part.sortedKb
  }
  return { rows, sortedKb }
}

/** A store whose statements, and those of the functions they call, report their plans as they were executed. */
async function explainedStore() {
  const database = await freshDatabase()
  let plans: Plan[] = []
  class Explained extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      this.on('notice', ({ message = '' }) => {
        const at = message.indexOf('{')
        if (message.includes('plan:')) plans.push(JSON.parse(message.slice(at)).Plan)
      })
    }
  }
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    'auto_explain.log_analyze': 'on',
    'auto_explain.log_timing': 'off',
    'auto_explain.log_nested_statements': 'on',
    'auto_explain.log_format': 'json',
    'auto_explain.log_level': 'notice',
    client_min_messages: 'notice',
  }
  const pool = new pg.Pool({
    connectionString: database.url,
    Client: Explained,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  })
  const store = postgres({ pool })
  await store.migrate()
  return {
    store,
    async work(call: () => Promise<unknown>) {
      plans = []
      await call()
      expect(plans.length).toBeGreaterThan(0)
      return workOf({ Plans: plans })
    },
    async end() {
      await store.close()
      await pool.end()
      await database.drop()
    },
  }
}

type Explained = Awaited<ReturnType<typeof explainedStore>>
type Store = Explained['store']

const claim = (store: Store, limit: number) =>
  store.claim({ worker: 'w', limit, leaseMs: 600_000, sources: ['shop'] })

const recorded =
  (deliveriesOf: (name: string, n: number) => NewDelivery[]) => async (store: Store, n: number) => {
    const batch = deliveriesOf(`of ${n}`, n)
    return () => store.record(batch)
  }

const replayed = async (store: Store, n: number) => {
  const batch = deliveries(`of ${n}`, n, 1, { guard: true })
  await store.record(batch)
  const again = batch.map((delivery) => ({
    ...delivery,
    events: delivery.events.map((event) => ({ ...event, id: `again ${event.id}` })),
  }))
  return () => store.record(again)
}

const leased =
  (call: (store: Store, leases: Lease[]) => Promise<unknown>) => async (store: Store, n: number) => {
    await store.record(deliveries(`of ${n}`, n, 1, { lane: () => 'own' }).map(ownLane))
    const leases = (await claim(store, n)).map(({ lease }) => lease)
    expect(leases).toHaveLength(n)
    return () => call(store, leases)
  }

function ownLane(delivery: NewDelivery): NewDelivery {
  return { ...delivery, events: delivery.events.map((event) => ({ ...event, lane: event.id })) }
}

const settled = (outcome: Outcome) =>
  leased((store, leases) => store.settle(leases.map((lease) => ({ lease, outcome, durationMs: 1 }))))

const operated = (lane?: (n: number) => string) => async (store: Store, n: number) => {
  const [delivery] = deliveries(`of ${n}`, 1, n, lane ? { lane } : {})
  await store.record([delivery!])
  const events = delivery!.events.map(({ id }) => ({ source: 'shop', id: id }))
  return async () => {
    for (const verb of ['ignore', 'replay'] as const)
      await store.operate({ verb, events, actor: 'a', note: 'x', force: true, dryRun: false })
  }
}

test.each<[string, (store: Store, n: number) => Promise<() => Promise<unknown>>]>([
  ['record of one delivery', recorded((name, n) => deliveries(name, 1, n))],
  ['record of one delivery with guards', recorded((name, n) => deliveries(name, 1, n, { guard: true }))],
  ['record of one delivery in one lane', recorded((name, n) => deliveries(name, 1, n, { lane: () => name }))],
  ['record of one delivery in many lanes', recorded((name, n) => deliveries(name, 1, n, { lane: String }))],
  ['record of plain deliveries', recorded((name, n) => deliveries(name, n, 1))],
  ['record of deliveries with guards', recorded((name, n) => deliveries(name, n, 1, { guard: true }))],
  ['record of replayed content', replayed],
  [
    'record of known events',
    async (store, n) => {
      const batch = deliveries(`of ${n}`, 1, n, { guard: true })
      await store.record(batch)
      return () => store.record(batch)
    },
  ],
  [
    'claim',
    async (store, n) => {
      await store.record(deliveries(`of ${n}`, 1, n))
      return () => claim(store, n)
    },
  ],
  ['settle: succeeded', settled({ kind: 'succeeded' })],
  ['settle: ignored', settled({ kind: 'ignored', reason: 'x' })],
  ['settle: failed', settled({ kind: 'failed', error: 'x', retryInMs: 3_600_000 })],
  ['extend', leased((store, leases) => store.extend(leases, 600_000))],
  ['release', leased((store, leases) => store.release(leases, 3_600_000))],
  ['operate', operated()],
  ['operate on one lane', operated(() => 'one')],
  [
    'imports',
    async (store, n) => {
      const events = Array.from({ length: n }, (_, i) => ({
        source: 'shop',
        id: `import ${n} ${i}`,
        type: 'x',
        reference: null,
        receivedAt: Date.now(),
        processedAt: null,
        state: 'succeeded' as const,
        reason: null,
        payload: { headers: {}, body: Buffer.alloc(250) },
      }))
      return async () => {
        await store.imports!.add(events)
        await store.imports!.known(events)
      }
    },
  ],
])('the work of PostgreSQL grows with the number of rows: %s', async (_, prepare) => {
  const explained = await explainedStore()
  try {
    const small = await explained.work(await prepare(explained.store, 100))
    const large = await explained.work(await prepare(explained.store, 1_000))
    expect(large.rows).toBeLessThan(12 * small.rows)
    // A sort takes 25 kB at least.
    expect(large.sortedKb).toBeLessThan(12 * small.sortedKb + 500)
  } finally {
    await explained.end()
  }
})
