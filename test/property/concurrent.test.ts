/**
 * Several workers on two stores at once, over a few events, each doing what chance says. Every call is written down with
 * when it began and ended; afterwards the history is judged: it must be one that a single, orderly store could have had.
 */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { EventKey, EventRecord } from 'hookonce'
import type { Action, ClaimedEvent, CompleteStore, Outcome, StoreHarness } from 'hookonce/testing/contracts'
import { describe, test } from 'vitest'
import { postgresHarness } from '../support/postgres-harness.js'
import { type OwnHarness, sqliteHarness } from '../support/sqlite-harness.js'
import { nameOf } from './model.js'
import { seed } from './seed.js'

const numRuns = Math.ceil(Number(process.env.HOOKONCE_PROPERTY_RUNS ?? 100) / 25)
const SOURCES = ['a', 'b']
const EVENTS = 5
/** Some leases run out while their worker dawdles; most do not. */
const SHORT_MS = 4
const LONG_MS = 600_000

type Step =
  | { readonly do: 'claim'; readonly limit: number; readonly leaseMs: number }
  | { readonly do: 'claim one'; readonly event: number; readonly leaseMs: number }
  | { readonly do: 'settle'; readonly back: number; readonly outcome: Outcome }
  | { readonly do: 'settle in transaction'; readonly back: number; readonly outcome: Outcome }
  | { readonly do: 'extend'; readonly back: number }
  | { readonly do: 'release'; readonly back: number }
  | { readonly do: 'order'; readonly verb: Action['verb']; readonly event: number }
  | { readonly do: 'post'; readonly event: number }
  | { readonly do: 'pause' }

const leaseMs = fc.constantFrom(SHORT_MS, LONG_MS, LONG_MS)
const outcome = fc.constantFrom<Outcome[]>(
  { kind: 'succeeded' },
  { kind: 'ignored', reason: 'not for us' },
  { kind: 'failed', error: 'try later', retryInMs: 0 },
  { kind: 'failed', error: 'boom', retryInMs: null },
)
const event = fc.nat(2 * EVENTS - 1)
const back = fc.nat(2)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('claim' as const), limit: fc.constantFrom(1, 3), leaseMs }),
  fc.record({ do: fc.constant('claim one' as const), event, leaseMs }),
  fc.record({ do: fc.constant('claim one' as const), event, leaseMs }),
  fc.record({ do: fc.constant('settle' as const), back, outcome }),
  fc.record({ do: fc.constant('settle in transaction' as const), back, outcome }),
  fc.record({ do: fc.constant('extend' as const), back }),
  fc.record({ do: fc.constant('release' as const), back }),
  fc.record({
    do: fc.constant('order' as const),
    verb: fc.constantFrom<Action['verb'][]>('replay', 'replay', 'retry', 'ignore'),
    event,
  }),
  fc.record({ do: fc.constant('post' as const), event }),
  fc.record({ do: fc.constant('pause' as const) }),
)
const workers = fc.noBias(
  fc.array(fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), {
    minLength: 2,
    maxLength: 6,
    size: 'max',
  }),
)

/** One lease: who was given what, when, and when it was used up. */
interface Held {
  readonly claimed: ClaimedEvent
  readonly leaseMs: number
  /** The call that gave it began and ended; it was given in between. */
  readonly from: number
  readonly given: number
  /** When the claim or the latest accepted extension was answered: it ends `leaseMs` after that at the latest. */
  renewed: number
  /** The call that used it up, once it was accepted. */
  ended: { readonly from: number; readonly to: number; readonly how: 'settled' | 'released' } | null
}

interface History {
  readonly held: Held[]
  /** Accepted replays per event. */
  readonly replays: Map<string, number>
  readonly posts: Map<string, number>
  readonly effects: Set<string>
}

async function work<Tx>(
  harness: StoreHarness<Tx>,
  store: CompleteStore<Tx>,
  worker: string,
  steps: readonly Step[],
  history: History,
): Promise<void> {
  const own: Held[] = []
  for (const next of steps) {
    if (next.do === 'pause') {
      await new Promise((resolve) => setTimeout(resolve, SHORT_MS + 2))
    } else if (next.do === 'claim' || next.do === 'claim one') {
      const from = performance.now()
      const claimed = await store.claim({
        worker,
        limit: next.do === 'claim' ? next.limit : 1,
        leaseMs: next.leaseMs,
        ...(next.do === 'claim' ? { sources: SOURCES } : { event: keyOf(next.event) }),
      })
      const given = performance.now()
      for (const one of claimed) {
        const held = { claimed: one, leaseMs: next.leaseMs, from, given, renewed: given, ended: null }
        own.push(held)
        history.held.push(held)
      }
    } else if (next.do === 'order') {
      const key = keyOf(next.event)
      const order = { verb: next.verb, events: [key], actor: 'ada', note: '', force: true }
      const [result] = await store.operate(order)
      if (next.verb === 'replay' && result?.done) add(history.replays, nameOf(key.source, key.id))
    } else if (next.do === 'post') {
      const key = keyOf(next.event)
      await post(store, key)
      add(history.posts, nameOf(key.source, key.id))
    } else {
      const held = own[own.length - 1 - next.back]
      if (held) await use(harness, store, held, next, history)
    }
  }
}

async function use<Tx>(
  harness: StoreHarness<Tx>,
  store: CompleteStore<Tx>,
  held: Held,
  step: Extract<Step, { back: number }>,
  history: History,
): Promise<void> {
  const { lease } = held.claimed
  const from = performance.now()
  if (step.do === 'extend') {
    const [done] = await store.extend([lease], held.leaseMs)
    if (done) held.renewed = performance.now()
    return
  }
  const done =
    step.do === 'release'
      ? (await store.release([lease]))[0]
      : step.do === 'settle'
        ? (await store.settle([{ lease, outcome: step.outcome, durationMs: 0 }]))[0]
        : await settleWithEffect(harness, store, held, step.outcome, history)
  if (!done) return
  assert.equal(held.ended, null, 'a lease is used up once')
  held.ended = { from, to: performance.now(), how: step.do === 'release' ? 'released' : 'settled' }
}

async function settleWithEffect<Tx>(
  harness: StoreHarness<Tx>,
  store: CompleteStore<Tx>,
  { claimed }: Held,
  outcome: Outcome,
  history: History,
): Promise<boolean> {
  const transaction = await store.transaction()
  if (outcome.kind === 'succeeded') {
    const value = `${nameOf(claimed.source, claimed.id)} run ${claimed.run}`
    history.effects.add(value)
    await harness.insertEffect(transaction.tx, value)
  }
  const [done] = await transaction.settle([{ lease: claimed.lease, outcome, durationMs: 0 }])
  await (done ? transaction.commit() : transaction.rollback())
  return done === true
}

function keyOf(n: number): EventKey {
  return { source: SOURCES[n % 2]!, id: `e${Math.floor(n / 2)}` }
}

async function post(store: CompleteStore, { source, id }: EventKey): Promise<void> {
  const event = { id: id, type: 't', reference: null, contentHash: null, guardHash: null }
  const lane = id === 'e0' || id === 'e1' ? 'lane' : null
  await store.record([
    {
      source,
      headers: {},
      body: new Uint8Array([1]),
      events: [{ ...event, lane }],
      contentGuard: 'review',
    },
  ])
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const laneOf = ({ source, id }: EventKey) =>
  id === 'e0' || id === 'e1' ? nameOf(source, 'lane') : nameOf(source, id)

/**
 * A lease that was accepted at `ended` was alive from when it was given until then, without a gap. So while it was, no
 * other of the same event, or of the same lane, can have been alive too.
 */
function judgeLeases(held: readonly Held[]): void {
  assert.equal(new Set(held.map((one) => one.claimed.lease.token)).size, held.length, 'tokens differ')
  for (const one of held) {
    const inTime = one.ended === null || one.ended.from <= one.renewed + one.leaseMs + 5
    assert.ok(inTime, `a dead lease was accepted: ${show(one)}`)
    // Surely alive: from the end of the claim to the beginning of the call that used it up, if there was one.
    const aliveUntil = one.ended?.from ?? one.given
    for (const other of held) {
      if (other === one || laneOf(other.claimed) !== laneOf(one.claimed)) continue
      const otherSurelyIn = other.from > one.given && other.given < aliveUntil
      assert.ok(!otherSurelyIn, `two live leases: ${show(one)} and ${show(other)}`)
    }
  }
}

function show({ claimed, from, given, ended }: Held): string {
  const { source, id, attempt, run } = claimed
  return JSON.stringify({ source, eventId: id, attempt, run, from, given, ended })
}

/** The log of one event agrees with what its workers were told. */
async function judgeEvent(store: CompleteStore, key: EventKey, history: History): Promise<EventRecord> {
  const name = nameOf(key.source, key.id)
  const [found, rows] = await Promise.all([store.get(key), store.inspect.attempts(key)])
  assert.ok(found, `${name} is there`)
  const own = history.held.filter(({ claimed }) => nameOf(claimed.source, claimed.id) === name)
  const kept = own.filter((held) => held.ended?.how !== 'released')
  const numbers = kept.map((held) => held.claimed.attempt).sort((a, b) => a - b)
  assert.deepEqual(
    numbers,
    numbers.map((_, i) => i + 1),
    `${name}: attempts that were not handed back are numbered without gap or repeat`,
  )
  assert.equal(found.attempts, numbers.length, `${name}: attempts`)
  assert.deepEqual(
    rows.map((row) => row.attempt),
    numbers.slice(0, rows.length),
    `${name}: rows of attempts`,
  )
  // The last attempt may still run, or be lost with nobody having noticed.
  assert.ok(rows.length >= numbers.length - 1, `${name}: at most the last attempt has no row`)
  for (const row of rows) {
    const held = kept.find((one) => one.claimed.attempt === row.attempt)!
    const settled = held.ended?.how === 'settled'
    assert.equal(row.outcome !== 'lost', settled, `${name}: attempt ${row.attempt} ended as ${row.outcome}`)
    assert.equal(row.run, held.claimed.run, `${name}: run of attempt ${row.attempt}`)
  }
  assert.equal(
    rows.filter((row) => row.outcome !== 'lost').length,
    own.filter((held) => held.ended?.how === 'settled').length,
    `${name}: a row for each accepted settle`,
  )
  assert.equal(found.run, 1 + (history.replays.get(name) ?? 0), `${name}: run`)
  assert.equal(found.deliveries, 1 + (history.posts.get(name) ?? 0), `${name}: deliveries`)
  return found
}

async function judgeStats(store: CompleteStore, log: readonly EventRecord[]): Promise<void> {
  const stats = await store.stats()
  const recount = SOURCES.map((source) => {
    const own = log.filter((one) => one.source === source)
    const count = (test: (one: EventRecord) => boolean) => own.filter(test).length
    return {
      source,
      recorded: own.length,
      pending: count((one) => one.state === 'pending'),
      processing: count((one) => one.state === 'processing'),
      retrying: count((one) => one.state === 'failed' && one.nextAttemptAt !== null),
      succeeded: count((one) => one.state === 'succeeded'),
      ignored: count((one) => one.state === 'ignored'),
      dead: count((one) => one.state === 'failed' && one.nextAttemptAt === null),
    }
  })
  assert.deepEqual(
    stats.map(({ oldestDueAt: _, ...counts }) => counts),
    recount,
    'statistics',
  )
}

async function check<Tx>(open: () => Promise<OwnHarness<Tx>>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(workers, async (lists) => {
      const harness = await open()
      try {
        const stores = [await harness.open(), await harness.open()]
        const keys = Array.from({ length: 2 * EVENTS }, (_, n) => keyOf(n))
        for (const key of keys) await post(stores[0]!, key)
        const history: History = { held: [], replays: new Map(), posts: new Map(), effects: new Set() }
        await Promise.all(lists.map((list, n) => work(harness, stores[n % 2]!, `w${n}`, list, history)))
        // Every short lease is over, so that what follows sees a log at rest.
        await harness.advance(10 * SHORT_MS)
        for (const store of stores) await store.duplicates.flush()
        judgeLeases(history.held)
        const log = await Promise.all(keys.map((key) => judgeEvent(stores[1]!, key, history)))
        await judgeStats(stores[0]!, log)
        for (const value of history.effects)
          assert.ok((await harness.countEffects(value)) <= 1, `I3: ${value} happened once at most`)
      } finally {
        await harness.end()
      }
    }),
    { numRuns, seed },
  )
}

describe('workers at once leave a history that one orderly store could have had', {
  timeout: 900_000,
}, () => {
  test('SQLite', () => check(sqliteHarness))
  test('PostgreSQL', () => check(postgresHarness))
})
