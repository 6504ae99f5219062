/**
 * Lanes with a long queue: only the head of a lane is in sight of a claim, so what an event costs does not depend on how
 * many wait behind it. Counted in rows that were updated, by a trigger on the table, and not in time.
 */
import type { Store } from 'hookonce'
import type { ClaimedEvent, NewDelivery, Outcome } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { postgresLog, type SharedLog, sqliteLog } from '../support/logs.js'
import { rows } from '../support/processing.js'

const LONG = Number(process.env.HOOKONCE_LANE_EVENTS ?? 2_000)
const succeeded: Outcome = { kind: 'succeeded' }

function delivery(eventId: string, lane: string | null): NewDelivery {
  const event = { id: eventId, type: 't', reference: lane, contentHash: null, guardHash: null, lane }
  return {
    source: 'shop',
    headers: {},
    body: new Uint8Array([1]),
    events: [event],
    contentGuard: 'review',
  }
}

const logs: Record<string, () => Promise<SharedLog>> = {
  SQLite: sqliteLog,
  PostgreSQL: postgresLog,
}

describe.each(Object.entries(logs))('a long lane on %s', (kind, makeLog) => {
  let log: SharedLog
  let store: Store
  beforeEach(async () => {
    log = await makeLog()
    store = log.open()
    await store.migrate()
  })
  afterEach(async () => {
    await store.close()
    await log.remove()
  })

  async function countUpdates(): Promise<void> {
    if (kind === 'SQLite')
      await log.sql(`create table log.updates (n integer); insert into log.updates values (0);
        create trigger log.count after update on log.work begin update log.updates set n = n + 1; end`)
    else
      await log.sql(`create sequence log.updates;
        create function log.count() returns trigger language plpgsql as $$ begin perform nextval('log.updates'); return null; end $$;
        create trigger count after update on log.work for each row execute function log.count()`)
  }
  async function updates(): Promise<number> {
    const text =
      kind === 'SQLite'
        ? 'select n from log.updates'
        : 'select case when is_called then last_value else 0 end as n from log.updates'
    return Number((await rows(log, text))[0]!.n)
  }

  const claim = (limit = 100): Promise<ClaimedEvent[]> =>
    store.claim({ worker: 'w', limit, leaseMs: 600_000, sources: ['shop'] })
  const settle = (claimed: readonly ClaimedEvent[], outcome: Outcome) =>
    store.settle(claimed.map(({ lease }) => ({ lease, outcome, durationMs: 0 })))
  async function record(count: number, lane: string): Promise<void> {
    for (let at = 0; at < count; at += 1_000) {
      const size = Math.min(1_000, count - at)
      await store.record(Array.from({ length: size }, (_, i) => delivery(`${lane} ${at + i}`, lane)))
    }
  }

  test.each([1, 1_000, LONG])(
    'an event in a lane of %i costs two updates, its turn and its claim, and others are claimed beside it',
    async (length) => {
      await record(length, 'long')
      await countUpdates()
      const handled = Math.min(length, 30)
      for (let i = 0; i < handled; i++) {
        await record(1, `other ${i}`)
        const claimed = await claim()
        expect(claimed.map(({ id }) => id)).toEqual([`long ${i}`, `other ${i} 0`])
        expect(await settle(claimed, succeeded)).toEqual([true, true])
      }
      // The other event of each round needs its claim only.
      expect(await updates()).toBeLessThanOrEqual(3 * handled)
    },
    240_000,
  )

  test('a head that fails costs nothing but its own attempts, and others go on beside it', async () => {
    await record(LONG, 'long')
    await countUpdates()
    for (let i = 0; i < 10; i++) {
      await record(1, `other ${i}`)
      const claimed = await claim()
      expect(claimed.map(({ id }) => id).sort()).toEqual(['long 0', `other ${i} 0`])
      const [head] = claimed.filter(({ id }) => id === 'long 0')
      await settle([head!], { kind: 'failed', error: 'later', retryInMs: 0 })
      await settle(
        claimed.filter((one) => one !== head),
        succeeded,
      )
    }
    expect(await updates()).toBeLessThanOrEqual(30)
  }, 240_000)

  test('events that are due behind their head are put out of sight once', async () => {
    await record(2_000, 'long')
    const longAgo = kind === 'SQLite' ? '1700000000000' : 'to_timestamp(1700000000)'
    await log.sql(`update log.work set next_at = ${longAgo}`)
    await record(1, 'other')
    await countUpdates()
    const seen: string[] = []
    for (let i = 0; i < 30; i++) {
      const claimed = await claim()
      seen.push(...claimed.map(({ id }) => id))
      await settle(claimed, succeeded)
    }
    expect(seen.filter((id) => id !== 'other 0')).toEqual(Array.from({ length: 30 }, (_, i) => `long ${i}`))
    expect(seen).toContain('other 0')
    // A claim cannot hold the row it takes itself, so the rows it finds together with the head are looked at twice.
    expect(await updates()).toBeLessThanOrEqual(2_000 + 2 * 31 + 100)
  })

  test('an order to replay a whole lane puts all but its first out of sight', async () => {
    await record(200, 'long')
    const events = Array.from({ length: 200 }, (_, i) => ({ source: 'shop', id: `long ${i}` }))
    const order = { events, actor: 'test', note: '' }
    await store.operate({ verb: 'ignore', ...order })
    await store.operate({ verb: 'replay', ...order })
    await countUpdates()
    for (let i = 0; i < 200; i++) {
      const claimed = await claim()
      expect(claimed.map(({ id }) => id)).toEqual([`long ${i}`])
      await settle(claimed, succeeded)
    }
    expect(await updates()).toBeLessThanOrEqual(2 * 200)
  })

  test('no turn is lost while events are recorded, settled, given up, ignored and replayed at the same time', async () => {
    const other = log.open()
    const lanes = ['a', 'b', 'c']
    const total = 900
    const finished = new Set<string>()
    let recorded = 0
    const names: string[] = []
    async function sender(on: Store, from: number): Promise<void> {
      for (let i = from; i < total; i += 3) {
        await on.record([delivery(`e${i}`, lanes[i % 3]!)])
        names.push(`e${i}`)
        recorded++
      }
    }
    async function worker(on: Store, name: string, inTransaction: boolean): Promise<void> {
      // Idle while nothing more is recorded: a turn that was lost does not come.
      for (let idle = 0; idle < 1_000; ) {
        const claimed = await on.claim({ worker: name, limit: 2, leaseMs: 60_000, sources: ['shop'] })
        idle = claimed.length > 0 || recorded < total ? 0 : idle + 1
        if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
        if (claimed.length === 0 && recorded === total && (await left()) === 0) return
        for (const { lease, id } of claimed) {
          const outcome: Outcome =
            Math.random() < 0.1 ? { kind: 'failed', error: 'no', retryInMs: null } : succeeded
          const settlement = { lease, outcome, durationMs: 0 }
          await unlessBusy(async () => {
            if (inTransaction) expect(await (await on.transaction()).finish([settlement])).toBe(true)
            else expect(await on.settle([settlement])).toEqual([true])
          })
          finished.add(id)
        }
      }
    }
    /** The victim of a deadlock is rolled back and may try again, as a worker does. */
    async function unlessBusy(settle: () => Promise<void>): Promise<void> {
      for (let tries = 1; ; tries++) {
        try {
          return await settle()
        } catch (error) {
          if ((error as { code?: string }).code !== 'STORE_BUSY' || tries === 10) throw error
        }
      }
    }
    async function operator(): Promise<void> {
      while (recorded < total) {
        const some = [names.at(-1), names[Math.floor(Math.random() * names.length)]]
        const events = some
          .filter((id) => id !== undefined)
          .map((eventId) => ({ source: 'shop', id: eventId }))
        const verb = Math.random() < 0.7 ? 'ignore' : 'replay'
        if (events.length > 0) await other.operate({ verb, events, actor: 'test', note: '', force: true })
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const left = async () => Number((await rows(log, 'select count(*) as n from log.work'))[0]!.n)
    try {
      await Promise.all([
        sender(store, 0),
        sender(other, 1),
        sender(store, 2),
        worker(store, 'w1', false),
        worker(other, 'w2', true),
        worker(other, 'w3', false),
        operator(),
      ])
      // A lost turn would be made up for after an hour only.
      expect(await left()).toBe(0)
      expect(finished.size).toBeGreaterThan(100)
    } finally {
      await other.close()
    }
  }, 240_000)
})
