/** Inspection: a log that only the store has written has no broken invariant. */
import assert from 'node:assert/strict'
import type { Inspection } from '../../store.js'
import { fillSample } from './situations.js'
import {
  attempt,
  type ContractCase,
  claimEvent,
  DAY_MS,
  delivery,
  event,
  ignored,
  key,
  operate,
  range,
  record,
  recordEvent,
  sha256,
  succeeded,
} from './support.js'

function nothingBroken({ invariants }: Inspection): void {
  assert.deepEqual(
    invariants.filter((finding) => !finding.ok || finding.fix !== null),
    [],
  )
  for (const expected of [
    'one row per event',
    'finished events stay finished',
    'unfinished events have their payloads',
  ])
    assert.ok(invariants.some(({ name }) => name === expected))
}

export const inspectCases: readonly ContractCase[] = [
  {
    name: 'a log that was never migrated can be inspected: schema 0, and no invariants',
    async run({ open }) {
      const store = await open({ migrate: false })
      const before = await store.inspect.report()
      assert.equal(before.schema.found, 0)
      assert.deepEqual(before.invariants, [])
      assert.ok(before.settings.length > 0)
      const { to } = await store.migrate()
      const after = await store.inspect.report()
      assert.deepEqual(after.schema, { found: to, known: to })
      assert.equal(before.schema.known, to)
      nothingBroken(after)
    },
  },
  {
    name: 'an inspection returns the time of the store, not of the caller',
    async run({ open, advance }) {
      const store = await open()
      await advance(DAY_MS)
      const { now } = await store.inspect.report()
      assert.ok(Math.abs(now - (Date.now() + DAY_MS)) < 60_000)
    },
  },
  {
    name: 'an inspection finds no broken invariant after any sequence of calls',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 120)
      nothingBroken(await store.inspect.report())
      // Replayed content is ignored when it is recorded: it has no work row and no attempt.
      const guarded = { guardHash: sha256('bytes') }
      await record(store, delivery(event('real', guarded)), delivery(event('replayed', guarded)))
      await attempt(store, await recordEvent(store, 'again'), succeeded)
      await operate(store, 'replay', key('again'), { force: true })
      await claimEvent(store, key('again'))
      nothingBroken(await store.inspect.report())
    },
  },
  {
    name: 'payloads that retention removed are not reported as missing',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      const receivedAt = Date.now() - 100 * DAY_MS
      const outcomes = { done: succeeded, left: ignored, never: null }
      for (const [id, outcome] of Object.entries(outcomes)) {
        await recordEvent(store, id, { receivedAt })
        if (outcome) await attempt(store, key(id), outcome)
        else await operate(store, 'ignore', key(id))
      }
      await store.record([
        delivery(
          range(3).map((i) => event(`of many ${i}`)),
          { receivedAt },
        ),
      ])
      const before = Date.now() - DAY_MS
      const { payloads } = await store.retention.prune({ source: 'shop', payloadsBefore: before, limit: 100 })
      assert.equal(payloads, 3)
      nothingBroken(await store.inspect.report())
      await store.retention.prune({ source: 'shop', attemptsBefore: Date.now() + DAY_MS, limit: 100 })
      nothingBroken(await store.inspect.report())
    },
  },
]
