/** Cases of the `reconciles` capability, and of events that reconcile records. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { RUNS_KEPT } from '../../store/reconciles.js'
import { type ContractCase, claimEvent, delivery, event, key, record, SOURCE, sha256 } from './support.js'

const backfill = (eventId: string) => ({
  ...delivery(event(eventId, { contentHash: null })),
  origin: 'backfill' as const,
})

export const reconcileCases: readonly ContractCase[] = [
  {
    name: 'a backfilled event says so, is claimed, and a delivery of it is a duplicate whatever its bytes are',
    async run(harness) {
      const store = await harness.open()
      await record(store, backfill('a'))
      assert.equal((await store.get(key('a')))?.origin, 'backfill')
      await claimEvent(store, key('a'))
      const [verdict] = await record(store, delivery(event('a', { contentHash: sha256('other') })))
      assert.equal(verdict?.status === 'duplicate' && verdict.equal, true)
      await store.duplicates.flush()
      const after = await store.get(key('a'))
      assert.deepEqual([after?.origin, after?.conflicts, after?.deliveries], ['backfill', 0, 2])
    },
    needs: ['duplicates'],
  },
  {
    name: 'a backfill of an event that the log has changes nothing, and is no delivery',
    async run(harness) {
      const store = await harness.open()
      await record(store, delivery('a'))
      const before = await store.get(key('a'))
      const [verdict] = await record(store, backfill('a'))
      assert.equal(verdict?.status, 'duplicate')
      await store.duplicates.flush()
      assert.deepEqual(await store.get(key('a')), before)
      assert.equal(before?.origin, 'delivery')
    },
    needs: ['duplicates'],
  },
  {
    name: 'a run is written under its id, and the latest comes first',
    async run(harness) {
      const store = await harness.open()
      const [first, second] = [randomUUID(), randomUUID()]
      await store.reconciles.note({ id: first, source: SOURCE, report: '{"listed":1}' })
      await harness.advance(1_000)
      await store.reconciles.note({ id: second, source: 'other', report: '{}' })
      await harness.advance(1_000)
      await store.reconciles.note({ id: first, source: SOURCE, report: '{"listed":2}' })
      const runs = await store.reconciles.runs({ limit: 10 })
      assert.deepEqual(
        runs.map(({ id }) => id),
        [second, first],
      )
      const [run, ...others] = await store.reconciles.runs({ source: SOURCE, limit: 10 })
      assert.deepEqual([run?.report, others.length], ['{"listed":2}', 0])
      assert.ok(run!.updatedAt >= run!.startedAt + 2_000)
    },
  },
  {
    name: 'only the last runs of a source are kept',
    async run(harness) {
      const store = await harness.open()
      const ids: string[] = []
      await store.reconciles.note({ id: randomUUID(), source: 'other', report: '{}' })
      for (let i = 0; i < RUNS_KEPT + 3; i++) {
        const id = randomUUID()
        ids.push(id)
        await store.reconciles.note({ id, source: SOURCE, report: '{}' })
        await harness.advance(1)
      }
      const kept = await store.reconciles.runs({ source: SOURCE, limit: 500 })
      assert.deepEqual(
        kept.map(({ id }) => id),
        ids.slice(3).reverse(),
      )
      assert.equal((await store.reconciles.runs({ source: 'other', limit: 1 })).length, 1)
    },
  },
]
