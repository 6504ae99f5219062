/** Lanes of PostgreSQL: above READ COMMITTED, after a missed step, and when the clock of the server is set back. */

import type { PostgresTx } from 'hookonce/postgres'
import type { CompleteStore, NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { expect, test } from 'vitest'
import { delivery } from '../support/delivery.js'
import { type Bench, onLog, post, shop, signal, until } from '../support/processing.js'

const HOUR = 3_600_000
const LEASE_MS = 4_500

/** Sets the clock of the log by this much. */
const setClock = (bench: Bench, ms: number) =>
  bench.log.sql(`create or replace function log.clock() returns timestamptz language sql stable
    as $$ select statement_timestamp() + make_interval(secs => ${ms / 1000}) $$`)

function inLane(id: string, lane: string): NewDelivery {
  const { events, ...rest } = delivery(id)
  return { ...rest, events: [{ ...events[0]!, reference: lane, lane }] }
}

const idsOf = (claimed: readonly { readonly id: string }[]) => claimed.map(({ id }) => id).sort()
const claim = (store: CompleteStore, leaseMs = 30_000) => store.claim({ worker: 'w', limit: 10, leaseMs })

/** The heartbeats that have been answered. */
function countHeartbeats(store: CompleteStore): () => number {
  let beats = 0
  const { extend } = store
  store.extend = async (...args: Parameters<typeof extend>) => {
    const alive = await extend(...args)
    beats++
    return alive
  }
  return () => beats
}

onLog('PostgreSQL', (bench) => {
  async function handleInOrder(firstStatement: string | null): Promise<string[]> {
    const store = bench.store()
    const beats = countHeartbeats(store)
    const { inbox } = bench.inbox({
      store,
      sources: { shop: shop({ order: 'reference' }) },
      processing: { lease: LEASE_MS, poll: 50, retry: { maxAttempts: 1 } },
    })
    const running = signal()
    const released = signal()
    inbox.on('shop', '*', async ({ id }, ctx) => {
      const tx = ctx.tx as PostgresTx
      if (firstStatement !== null) await tx.query(firstStatement)
      await bench.write(tx, id)
      running.give()
      if (id === 'e1') await released.wait
    })
    await inbox.start()
    await post(inbox, { id: 'e1', ref: 'order 1' })
    await running.wait
    // Parked behind e1 after its transaction has its snapshot.
    await post(inbox, { id: 'e2', ref: 'order 1' })
    await post(inbox, { id: 'e3', ref: 'order 1' })
    const before = beats()
    await until(() => beats() >= before + 2, 'the lease is extended')
    released.give()
    await until(async () => (await bench.rows('select 1 from log.work')).length === 0, 'all are settled')
    expect(await bench.rows(`select outcome from log.attempts where outcome <> 'succeeded'`)).toEqual([])
    return bench.log.effects()
  }

  test('a lane goes on when the default of the database is SERIALIZABLE', async () => {
    const [row] = await bench.rows('select current_database() as name')
    await bench.log.sql(`alter database "${row!.name}" set default_transaction_isolation = serializable`)
    expect(await handleInOrder(null)).toEqual(['e1', 'e2', 'e3'])
  })

  for (const level of ['repeatable read', 'serializable'])
    test(`a lane goes on when its handler asks for ${level}, and heartbeats do not make it fail`, async () => {
      expect(await handleInOrder(`set transaction isolation level ${level}`)).toEqual(['e1', 'e2', 'e3'])
    })

  test('a lane whose next event is parked behind nothing goes on soon, and statistics show that it waits', async () => {
    const store = bench.store()
    await store.record([inLane('e1', 'a'), inLane('e2', 'a')])
    // As if a process had died before it made e2 due.
    await bench.log.sql(`delete from log.work where seq = (select seq from log.events where event_id = 'e1')`)
    const event = await store.get({ source: 'shop', id: 'e2' })
    expect((await store.stats())[0]!.oldestDueAt).toBe(event!.receivedAt)
    expect(idsOf(await claim(store))).toEqual(['e2'])
  })

  test('of a lane only the head is woken by a sweep', async () => {
    const store = bench.store()
    await store.record(['e1', 'e2', 'e3'].map((id) => inLane(id, 'a')))
    await bench.log.sql(`update log.work set next_at = now() + interval '1 hour'`)
    expect(idsOf(await claim(store))).toEqual(['e1'])
    expect(idsOf(await claim(bench.store()))).toEqual([])
  })

  test('events recorded before the clock was set back an hour are due at once, also in lanes', async () => {
    const store = bench.store()
    await store.record([inLane('a1', 'a'), inLane('a2', 'a'), delivery('plain')])
    await setClock(bench, -HOUR)
    const claimed = await claim(store)
    expect(idsOf(claimed)).toEqual(['a1', 'plain'])
    await store.settle(claimed.map(({ lease }) => ({ lease, outcome: { kind: 'succeeded' }, durationMs: 1 })))
    expect(idsOf(await claim(store))).toEqual(['a2'])
  })

  test('leases, retries and delays written before the clock was set back end in their own time', async () => {
    const store = bench.store()
    await store.record(['lost', 'retried', 'released'].map((id) => delivery(id)))
    const leases = new Map((await claim(store, 60_000)).map(({ id, lease }) => [id, lease]))
    const failed = { kind: 'failed', error: 'no', retryInMs: 60_000 } as const
    await store.settle([{ lease: leases.get('retried')!, outcome: failed, durationMs: 1 }])
    await store.release([leases.get('released')!], 60_000)
    await setClock(bench, -HOUR)
    const other = bench.store()
    expect(idsOf(await claim(other))).toEqual([])
    expect(await store.extend([leases.get('lost')!], 60_000)).toEqual([true])
    await setClock(bench, -HOUR + 120_000)
    expect(idsOf(await claim(other))).toEqual(['lost', 'released', 'retried'])
  })

  test('an order to ignore the head of a lane, which waits for the next event, does not keep it from ending', async () => {
    const store = bench.store()
    await store.record([inLane('a1', 'a'), inLane('a2', 'a')])
    const [, url, schema] = bench.log.args
    const settling = new pg.Client({ connectionString: url! })
    await settling.connect()
    try {
      await settling.query(`begin; set local lock_timeout = '300ms'; set local search_path = "${schema}"`)
      await settling.query(`delete from work where seq = (select seq from events where event_id = 'a2')`)
      const events = [{ source: 'shop', id: 'a1' }]
      const ignored = store.operate({ verb: 'ignore', events, actor: 'ada', note: '' })
      await until(async () => {
        const [found] = await bench.rows(`select count(*)::int as n from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%"${schema}".%'`)
        return found!.n === 1
      }, 'the order waits')
      // As a settle counts a dead letter.
      await settling.query(`insert into hours select source, hour, 0, 0, 0, 1 from hours limit 1
        on conflict (source, hour, slot) do update set dead = hours.dead + 1`)
      await settling.query('commit')
      expect(await ignored).toEqual([{ done: true, from: 'pending', to: 'ignored' }])
    } finally {
      await settling.end()
    }
  })

  test('more events than one sweep looks at are found', async () => {
    const store = bench.store()
    await store.record(Array.from({ length: 999 }, (_, i) => inLane(`e${i}`, `lane ${i % 3}`)))
    await bench.log.sql(`update log.work set next_at = now() + interval '1 hour';
      update log.work set next_at = now() + interval '61 minutes' where lane = 'lane 2'`)
    const lanes = new Set<string>()
    await until(async () => {
      for (const { reference } of await claim(store)) lanes.add(reference!)
      return lanes.size === 3
    }, 'every lane is claimed')
  })
})
