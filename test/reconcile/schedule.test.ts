import { randomUUID } from 'node:crypto'
import { HookonceError, type ReconcileReport, type Store, silentLog } from 'hookonce'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runReconcile } from '#dist/reconcile/run.js'
import { runIfDue } from '#dist/reconcile/schedule.js'
import { type Child, startChild } from '../support/child.js'
import { type Bench, onBothLogs } from '../support/processing.js'
import type { SentEvent } from '../support/sender-apis/server.js'
import {
  apiKey,
  arrived,
  HOUR_MS,
  MINUTE_MS,
  type Sender,
  secret,
  stripeInbox,
  stripeSender,
} from './support.js'

/** `npm run chaos -- reconcile` takes ten thousand. */
const COUNT = Number(process.env.HOOKONCE_RECONCILE_EVENTS ?? 400)
const ROUNDS = COUNT < 1_000 ? 1 : 4

let sender: Sender
beforeEach(async () => {
  sender = await stripeSender()
})
afterEach(() => sender.fake.close())

const windowStarts = () =>
  sender.fake.requests
    .filter(({ path }) => path === '/v1/events')
    .map(({ query }) => Number(query.get('created[gte]')) * 1_000)

function look(store: Store, every: `${number}ms` | `${number}h`): Promise<ReconcileReport | null> {
  const deps = {
    sources: new Map([['stripe', sender.source({ reconcile: { every, window: '2d' } })]]),
    policy: new Map([['stripe', { payloads: 0, events: 30 * 24 * HOUR_MS, attempts: 0, audits: 0 }]]),
    log: silentLog,
    store: async () => store,
    laneOf: () => null,
    handled: async () => [],
    recorded() {},
  }
  return runIfDue(deps, 'stripe', AbortSignal.timeout(60_000))
}

async function oldLog(
  bench: Bench,
  agoMs: number,
): Promise<{ store: ReturnType<Bench['store']>; first: SentEvent }> {
  const store = bench.store()
  await store.migrate()
  const first = sender.happens(agoMs)
  await arrived(store, first, first.occurredAt)
  return { store, first }
}

onBothLogs((bench) => {
  test('the first run begins with the first event of the log: what came before was handled elsewhere', async () => {
    sender.happens(10 * HOUR_MS)
    const { store, first } = await oldLog(bench, 5 * HOUR_MS)
    sender.happens(4 * HOUR_MS)
    expect(await look(store, '1h')).toMatchObject({
      listed: 2,
      known: 1,
      recovered: 1,
      since: first.occurredAt,
    })
  })

  test('an empty log has nothing to compare', async () => {
    const store = bench.store()
    await store.migrate()
    sender.happens(HOUR_MS)
    expect(await look(store, '1h')).toBe(null)
    expect(sender.fake.requests).toEqual([])
  })

  test('the next run is due when the time is over, and asks only for what is new and an hour before it', async () => {
    const { store } = await oldLog(bench, 30 * HOUR_MS)
    const first = await look(store, '1ms')
    expect(first).toMatchObject({ state: 'complete', completeUntil: first!.until })
    expect(await look(store, '1h')).toBe(null)
    sender.fake.requests.splice(0)
    const second = await look(store, '1ms')
    expect(second!.since).toBe(first!.completeUntil - HOUR_MS)
    expect(windowStarts()).toEqual([Math.floor(second!.since / 1_000) * 1_000])
  })

  test('after an outage of any length a run begins where the last one ended: no gap', async () => {
    const { store, first } = await oldLog(bench, 10 * 24 * HOUR_MS)
    const until = first.occurredAt + HOUR_MS
    const times = {
      since: first.occurredAt,
      until,
      comparedUntil: until,
      completeUntil: until,
      startedAt: until,
    }
    const old = { ...(await look(store, '1h'))!, id: randomUUID(), ...times }
    await bench.log.sql('delete from log.reconciles')
    await store.reconciles.note({ id: old.id, source: 'stripe', report: JSON.stringify(old) })
    const missed = sender.happens(6 * 24 * HOUR_MS)
    const report = await look(store, '1h')
    expect(report).toMatchObject({ since: first.occurredAt, recovered: 1 })
    expect(await store.get({ source: 'stripe', id: missed.id })).toMatchObject({ origin: 'backfill' })
  })

  test('runs that fail begin at the same point, and do not go back further each time', async () => {
    const { store } = await oldLog(bench, 30 * HOUR_MS)
    const first = await look(store, '1ms')
    for (let i = 0; i < 3; i++) {
      sender.fake.next.push({ status: 403, body: {} }, { status: 403, body: {} })
      await expect(look(store, '1ms')).rejects.toMatchObject({ code: 'SENDER_REFUSED' })
    }
    sender.fake.next.splice(0)
    expect((await look(store, '1ms'))!.since).toBe(first!.completeUntil - HOUR_MS)
  })

  test('a run whose process died is continued where its last report was, and its report is exact', async () => {
    const { store } = await oldLog(bench, 40 * HOUR_MS)
    for (let i = 1; i < 40; i++)
      for (let k = 0; k < 4; k++) sender.happens((40 - i) * HOUR_MS - k * MINUTE_MS)
    let notes = 0
    const dying: Store = {
      ...store,
      reconciles: {
        ...store.reconciles,
        // The third is the report of the second part, whose events are recorded.
        note: (run) => (++notes < 3 ? store.reconciles.note(run) : Promise.reject(new Error('it died'))),
      },
    }
    await expect(look(dying, '1h')).rejects.toThrow('it died')
    const [left] = await store.reconciles.runs({ limit: 1 })
    const died = JSON.parse(left!.report) as ReconcileReport
    expect(died.state).toBe('running')
    sender.fake.requests.splice(0)
    const report = await look(store, '1h')
    expect(windowStarts()[0]).toBe(Math.floor(died.comparedUntil / 1_000) * 1_000)
    expect(report).toMatchObject({
      id: died.id,
      listed: 157,
      known: 1,
      missing: 156,
      recovered: 156,
      extra: 0,
    })
    expect((await store.stats())[0]!.recorded).toBe(157)
  })

  test('a process that was frozen and has lost its lease leaves the report to the one that continues', async () => {
    const { store, first } = await oldLog(bench, 5 * HOUR_MS)
    const now = Date.now()
    const lost = runReconcile(
      {
        store,
        name: 'stripe',
        source: sender.source(),
        laneOf: () => null,
        recorded() {},
        handled: async () => [],
      },
      {
        id: '00000000-0000-4000-8000-000000000002',
        by: 'schedule',
        range: { since: first.occurredAt, until: now - 600_000 },
        dryRun: false,
        startedAt: now,
        notBefore: first.occurredAt,
        signal: AbortSignal.timeout(60_000),
        insist: () => Promise.reject(new HookonceError('KEY_LOST', { key: 'k' })),
      },
    )
    await expect(lost).rejects.toMatchObject({ code: 'KEY_LOST' })
    const [run] = await store.reconciles.runs({ limit: 1 })
    expect(JSON.parse(run!.report)).toMatchObject({ state: 'running', error: null })
    expect(await look(store, '1h')).toMatchObject({ id: run!.id, state: 'complete', listed: 1, known: 1 })
  })

  test('two processes with the schedule, a sender that fails, deliveries lost and late, kill -9: nothing missing, nothing twice', async () => {
    const { store, first } = await oldLog(bench, 48 * HOUR_MS)
    const inbox = stripeInbox(bench, sender)
    const events = [first]
    for (let i = 0; i < COUNT; i++) events.push(sender.happens(47 * HOUR_MS - (i * 45 * HOUR_MS) / COUNT))
    const lost = new Set(events.filter((_, i) => i > 0 && i % 20 === 0))
    const late = new Set(events.filter((_, i) => i > 0 && (i % 50 === 1 || i % 100 === 0)))
    const inTime = events.filter((event) => event !== first && !lost.has(event) && !late.has(event))
    for (let i = 0; i < inTime.length; i += 50)
      await Promise.all(inTime.slice(i, i + 50).map((event) => sender.deliver(inbox, event)))
    const args = [sender.fake.url, apiKey, secret, '1s', bench.log.insertEffect, ...bench.log.args]
    const start = () => [startChild('reconciling-child.mjs', args), startChild('reconciling-child.mjs', args)]
    for (let round = 1; round <= ROUNDS; round++) await killedRun(start, 3 + 5 * round)
    await bench.log.sql("delete from log.keys where key = 'hookonce:reconcile:stripe'")
    sender.fake.before = () => {}
    const children = start()
    try {
      for (const event of late) await sender.deliver(inbox, event)
      const complete = async () =>
        (await inbox.reports({ limit: 50 })).filter(({ state }) => state === 'complete')
      await expect.poll(async () => (await complete()).length).toBeGreaterThan(1)
      await expect.poll(async () => new Set(await bench.log.effects()).size).toBe(events.length)
      await expect.poll(async () => (await store.stats())[0]).toMatchObject({ pending: 0, processing: 0 })
      expect((await bench.log.effects()).sort()).toEqual(events.map(({ id }) => id).sort())
      const whole = (await inbox.reports({ limit: 120 })).at(-1)!
      expect(whole).toMatchObject({
        state: 'complete',
        listed: events.length,
        extra: 0,
        waiting: 0,
        lacking: [],
      })
      expect(whole.known + whole.missing).toBe(whole.listed)
      expect(whole.recovered).toBe(whole.missing)
      expect(whole.missing).toBe(await backfilled(bench))
      expect(whole.missing).toBeGreaterThanOrEqual([...lost].filter((event) => !late.has(event)).length)
    } finally {
      await Promise.all(children.map((child) => child.kill()))
    }
  })

  /** Kills both processes when one of them has asked for so many pages. Some of its answers are failures. */
  async function killedRun(start: () => Child[], pages: number): Promise<void> {
    await bench.log.sql("delete from log.keys where key = 'hookonce:reconcile:stripe'")
    let asked = 0
    let reached = () => {}
    const enough = new Promise<void>((resolve) => {
      reached = resolve
    })
    sender.fake.before = () => {
      asked += 1
      if (asked % 5 === 0) sender.fake.next.push({ status: 429, headers: { 'retry-after': '0' } })
      else if (asked % 7 === 0) sender.fake.next.push({ status: 500, body: 'oops' })
      if (asked === pages) reached()
    }
    const children = start()
    await enough
    await Promise.all(children.map((child) => child.kill()))
  }
})

async function backfilled(bench: Bench): Promise<number> {
  const [row] = await bench.rows("select count(*) as n from log.events where origin = 'backfill'")
  return Number(row!.n)
}
