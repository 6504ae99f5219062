/** Retention: payloads are removed first, ids are kept for the horizon, and unfinished events are never removed. */
import assert from 'node:assert/strict'
import type { Outcome } from '../../model.js'
import type { CompleteStore, PruneOptions } from '../../store.js'
import { statsAgree } from './stats.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  listAll,
  operate,
  range,
  record,
  recordEvent,
  SOURCE,
  sha256,
  snapshot,
  succeeded,
} from './support.js'

const now = () => Date.now()
const prune = (store: CompleteStore, more: Partial<PruneOptions>) =>
  store.retention.prune({ source: SOURCE, limit: 1_000, ...more })

async function pruneAll(store: CompleteStore, more: Partial<PruneOptions>): Promise<void> {
  for (const _ of range(50)) {
    if (!(await prune(store, more)).more) return
  }
  assert.fail('prune always says there is more')
}

async function finishedAt(
  store: CompleteStore,
  id: string,
  receivedAt: number,
  outcome: Outcome = succeeded,
) {
  const of = await recordEvent(store, id, { receivedAt })
  await attempt(store, of, outcome)
  return of
}

export const retentionCases: readonly ContractCase[] = [
  {
    name: 'a removed payload leaves its event in the log, and its next delivery is still a duplicate',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const of = await finishedAt(store, 'old', now() - 10 * DAY_MS)
      const before = await get(store, of)
      const result = await prune(store, { payloadsBefore: now() - DAY_MS })
      assert.deepEqual(result, { payloads: 1, events: 0, attempts: 0, audits: 0, more: false })
      assert.equal(await store.inspect.payload(of), null)
      assert.deepEqual(await get(store, of), { ...before, payload: 'removed' })
      assert.equal((await listAll(store)).length, 1)
      assert.equal((await store.inspect.attempts(of)).length, 1)
      const [verdict] = await record(store, delivery('old'))
      assert.ok(verdict?.status === 'duplicate' && verdict.final && verdict.equal)
      assert.equal(await store.inspect.payload(of), null, 'a duplicate brings no payload back')
    },
  },
  {
    name: 'a pending, processing or failed event is never pruned, however old',
    async run({ open, advance }) {
      const store = await open()
      const receivedAt = now() - 3_000 * DAY_MS
      const kept = ['pending', 'processing', 'lost', 'retrying', 'dead', 'retried'].map((id) => key(id))
      for (const { id: eventId } of kept) await recordEvent(store, eventId, { receivedAt })
      await claimEvent(store, key('lost'), { leaseMs: 1 })
      await advance(10)
      await claimEvent(store, key('processing'))
      await attempt(store, key('retrying'), failedFor(DAY_MS))
      await attempt(store, key('dead'), dead)
      await attempt(store, key('retried'), succeeded)
      assert.ok((await operate(store, 'replay', key('retried'), { force: true })).done)
      await finishedAt(store, 'done', receivedAt)
      await finishedAt(store, 'left', receivedAt, ignored)
      const before = await Promise.all(kept.map((of) => snapshotOf(store, of)))
      const horizon = now() + DAY_MS
      await pruneAll(store, { payloadsBefore: horizon, eventsBefore: horizon })
      assert.deepEqual(await Promise.all(kept.map((of) => snapshotOf(store, of))), before)
      assert.deepEqual(
        (await listAll(store)).map((e) => e.id).sort(),
        kept.map((of) => of.id).sort(),
        'the finished ones are gone',
      )
    },
  },
  {
    name: 'a key is kept until its horizon, and is new again after it',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const horizon = now() - 90 * DAY_MS
      const before = await finishedAt(store, 'before', horizon - 1)
      const at = await finishedAt(store, 'at', horizon)
      const guarded = event('guarded', { guardHash: sha256('bytes') })
      await record(store, delivery(guarded, { receivedAt: horizon - 1 }))
      await attempt(store, key('guarded'), succeeded)
      const result = await prune(store, { eventsBefore: horizon })
      assert.equal(result.events, 2)
      assert.equal(await store.get(before), null)
      assert.equal(await store.inspect.payload(before), null)
      assert.deepEqual(await store.inspect.attempts(before), [])
      assert.ok(await store.inspect.payload(at))
      const verdicts = await record(store, delivery('at'), delivery('before'), delivery(guarded))
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'recorded' ? v.state : v.status)),
        ['duplicate', 'pending', 'pending'],
      )
      const again = await attempt(store, before, succeeded)
      assert.deepEqual([again.attempt, again.run], [1, 1], 'nothing of the old one is left')
    },
  },
  {
    name: 'a payload shared by the events of one delivery stays while one of them is unfinished',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const body = bytes('["a","b","c"]')
      const receivedAt = now() - 100 * DAY_MS
      await store.record([delivery([event('a'), event('b'), event('c')], { body, receivedAt })])
      const horizon = { payloadsBefore: now(), eventsBefore: now() }
      // The first event is removed first: the others must still find the payload without its row.
      await attempt(store, key('a'), succeeded)
      await pruneAll(store, horizon)
      assert.equal(await store.get(key('a')), null)
      for (const [id, part] of [
        ['b', 1],
        ['c', 2],
      ] as const) {
        const payload = await store.inspect.payload(key(id))
        assert.ok(payload && Buffer.from(body).equals(payload.body), `the bytes of ${id} are there`)
        assert.equal(payload.part, part)
      }
      const claimed = await attempt(store, key('c'), ignored)
      assert.ok(claimed.body && Buffer.from(body).equals(claimed.body))
      await pruneAll(store, horizon)
      assert.ok(await store.inspect.payload(key('b')))
      await attempt(store, key('b'), succeeded)
      await pruneAll(store, horizon)
      assert.deepEqual(await listAll(store), [])
    },
  },
  {
    name: 'a prune removes no more than the limit, and returns whether there is more',
    async run({ open }) {
      const store = await open()
      for (const i of range(7)) await finishedAt(store, `e${i}`, now() - 100 * DAY_MS)
      await recordEvent(store, 'pending', { receivedAt: now() - 100 * DAY_MS })
      const removed: number[] = []
      for (const _ of range(10)) {
        const { events, more } = await prune(store, { eventsBefore: now(), limit: 3 })
        removed.push(events)
        assert.ok(events <= 3)
        if (!more) break
      }
      assert.equal(
        removed.reduce((a, b) => a + b, 0),
        7,
      )
      assert.equal((await prune(store, { eventsBefore: now(), limit: 3 })).more, false)
      assert.deepEqual(
        (await listAll(store)).map((e) => e.id),
        ['pending'],
      )
    },
  },
  {
    name: 'a dry run counts and removes nothing',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      for (const i of range(3)) await finishedAt(store, `e${i}`, now() - 100 * DAY_MS)
      await finishedAt(store, 'recent', now() - 50 * DAY_MS)
      const options = { payloadsBefore: now() - 10 * DAY_MS, eventsBefore: now() - 90 * DAY_MS }
      const before = await listAll(store)
      const dry = await prune(store, { ...options, dryRun: true })
      assert.deepEqual(await listAll(store), before)
      assert.ok(await store.inspect.payload(key('recent')))
      assert.equal(dry.events, 3)
      const real = await prune(store, options)
      assert.deepEqual(real, dry)
    },
  },
  {
    name: 'a prune of one source does not change another',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await finishedAt(store, 'mine', now() - 100 * DAY_MS)
      const theirs = await recordEvent(store, 'theirs', { source: 'crm', receivedAt: now() - 100 * DAY_MS })
      await attempt(store, theirs, succeeded)
      await pruneAll(store, { payloadsBefore: now(), eventsBefore: now() })
      assert.ok(await store.inspect.payload(theirs))
      assert.deepEqual(
        (await listAll(store)).map((e) => e.id),
        ['theirs'],
      )
    },
  },
  {
    name: 'the statistics after a prune count the events in the log, and an event recorded again is counted once',
    async run({ open }) {
      const store = await open()
      for (const i of range(6))
        await finishedAt(store, `e${i}`, now() - 100 * DAY_MS, i % 2 ? ignored : succeeded)
      await finishedAt(store, 'dead', now() - 100 * DAY_MS, dead)
      await recordEvent(store, 'pending', { receivedAt: now() - 100 * DAY_MS })
      await finishedAt(store, 'recent', now())
      await pruneAll(store, { eventsBefore: now() - 90 * DAY_MS })
      await statsAgree(store)
      await recordEvent(store, 'e0')
      await statsAgree(store)
    },
  },
  {
    name: 'a prune without an instant removes nothing',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await finishedAt(store, 'old', 0)
      assert.deepEqual(await prune(store, {}), {
        payloads: 0,
        events: 0,
        attempts: 0,
        audits: 0,
        more: false,
      })
      assert.ok(await store.inspect.payload(key('old')))
    },
  },
  {
    name: 'attempts of finished events are removed, and their number and the time of the last one stay known',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const of = await recordEvent(store, 'a', { receivedAt: now() - 10 * DAY_MS })
      await attempt(store, of, failedFor(0))
      await attempt(store, of, succeeded)
      const retrying = await recordEvent(store, 'b', { receivedAt: now() - 10 * DAY_MS })
      await attempt(store, retrying, failedFor(DAY_MS))
      const before = await get(store, of)
      const later = now() + 2 * DAY_MS
      assert.equal((await prune(store, { attemptsBefore: 1 })).attempts, 0)
      assert.equal((await prune(store, { attemptsBefore: later, dryRun: true })).attempts, 2)
      const first = await prune(store, { attemptsBefore: later, limit: 1 })
      assert.deepEqual([first.attempts, first.more], [1, true])
      assert.deepEqual(await get(store, of), before)
      assert.equal((await prune(store, { attemptsBefore: later })).attempts, 1)
      assert.deepEqual(await store.inspect.attempts(of), [])
      assert.deepEqual(await get(store, of), before)
      assert.equal((await store.inspect.attempts(retrying)).length, 1)
      assert.ok((await operate(store, 'replay', of, { force: true })).done)
      assert.equal((await claimEvent(store, of)).attempt, 3, 'attempts go on counting')
    },
  },
  {
    name: 'maintenance keeps the payloads of unfinished events and of sources it was not asked about',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 400 * DAY_MS
      await recordEvent(store, 'waits', { receivedAt })
      const done = await recordEvent(store, 'done', { source: 'crm', receivedAt: now() - 200 * DAY_MS })
      await attempt(store, done, succeeded)
      const payloadsBefore = { [SOURCE]: now() }
      await store.retention.maintain({ payloadsBefore, dryRun: true })
      const report = await store.retention.maintain({ payloadsBefore })
      assert.equal(report.busy, false)
      assert.ok(await store.inspect.payload(key('waits')))
      assert.ok(await store.inspect.payload(done))
      assert.ok(report.pruneBefore[SOURCE]! <= payloadsBefore[SOURCE]!)
    },
  },
  {
    name: 'audits of the source and of no source are removed by age, those of another source are kept',
    needs: ['audit', 'archive'],
    async run({ open }) {
      const store = await open()
      const mine = await recordEvent(store, 'a')
      const theirs = await recordEvent(store, 'b', { source: 'crm' })
      await operate(store, 'ignore', mine)
      await operate(store, 'ignore', theirs)
      await store.archive.erase({ reference: 'nobody', actor: 'ada', note: 'asked to', limit: 100 })
      const later = now() + DAY_MS
      assert.equal((await prune(store, { auditsBefore: now() - DAY_MS })).audits, 0)
      assert.equal((await prune(store, { auditsBefore: later, dryRun: true })).audits, 2)
      const first = await prune(store, { auditsBefore: later, limit: 1 })
      assert.deepEqual([first.audits, first.more], [1, true])
      assert.equal((await prune(store, { auditsBefore: later })).audits, 1)
      assert.equal((await prune(store, { source: 'crm', auditsBefore: later })).audits, 1)
    },
  },
]

/** Without the statistics, which change when other events are pruned. */
async function snapshotOf(store: CompleteStore, of: Parameters<typeof snapshot>[1]) {
  const { stats: _, ...own } = await snapshot(store, of)
  return own
}
