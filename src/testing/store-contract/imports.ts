/** Cases of the `imports` capability: events that another program has received and handled. */
import assert from 'node:assert/strict'
import type { ImportedEvent } from '../../store.js'
import { bytes, type ContractCase, DAY_MS, delivery, key, LEASE_MS, record, SOURCE } from './support.js'

const received = Date.UTC(2024, 1, 29, 12, 30)

function imported(eventId: string, more: Partial<ImportedEvent> = {}): ImportedEvent {
  return {
    source: SOURCE,
    id: eventId,
    type: 'order.paid',
    reference: 'order_1',
    receivedAt: received,
    processedAt: received + 5_000,
    state: 'succeeded',
    reason: null,
    payload: null,
    ...more,
  }
}

export const importCases: readonly ContractCase[] = [
  {
    name: 'an imported event has its own times and its state, and is counted',
    async run(harness) {
      const store = await harness.open()
      const ignored = imported('i', { state: 'ignored', reason: 'not ours', processedAt: null })
      assert.deepEqual(await store.imports.add([imported('a'), ignored]), [true, true])
      const first = await store.get(key('a'))
      assert.equal(first?.state, 'succeeded')
      assert.equal(first.receivedAt, received)
      assert.equal(first.processedAt, received + 5_000)
      assert.equal(first.attempts, 0)
      assert.equal(first.reference, 'order_1')
      const second = await store.get(key('i'))
      assert.equal(second?.state, 'ignored')
      assert.equal(second.reason, 'not ours')
      assert.equal(second.processedAt, received)
      const [stats] = await store.stats()
      assert.deepEqual(
        [stats?.recorded, stats?.succeeded, stats?.ignored, stats?.pending, stats?.dead],
        [2, 1, 1, 0, 0],
      )
    },
  },
  {
    name: 'an imported event is never claimed, and a delivery of its id is a duplicate and not a conflict',
    async run(harness) {
      const store = await harness.open()
      await store.imports.add([imported('a')])
      assert.deepEqual(await store.claim({ worker: 'w', limit: 10, leaseMs: LEASE_MS }), [])
      const [verdict] = await record(store, delivery('a'))
      assert.equal(verdict?.status, 'duplicate')
      assert.equal(verdict.status === 'duplicate' && verdict.equal, true)
      assert.equal(verdict.status === 'duplicate' && verdict.state, 'succeeded')
      await store.duplicates.flush()
      assert.equal((await store.get(key('a')))?.conflicts, 0)
    },
    needs: ['duplicates'],
  },
  {
    name: 'an event that the log has is not changed by an import, and an import can be repeated',
    async run(harness) {
      const store = await harness.open()
      await record(store, delivery('live'))
      assert.deepEqual(await store.imports.add([imported('live'), imported('a'), imported('a')]), [
        false,
        true,
        false,
      ])
      assert.deepEqual(await store.imports.add([imported('a', { state: 'ignored' }), imported('b')]), [
        false,
        true,
      ])
      assert.equal((await store.get(key('live')))?.state, 'pending')
      assert.equal((await store.get(key('a')))?.state, 'succeeded')
      assert.equal((await store.stats())[0]?.recorded, 3)
      assert.deepEqual(await store.imports.known([key('b'), key('none')]), [true, false])
    },
  },
  {
    name: 'payloads of any age are imported byte for byte, and a failed event can be retried with its own',
    async run(harness) {
      const store = await harness.open()
      const body = bytes('{"paid":true}\u0000')
      const payload = { headers: { 'content-type': 'application/json' }, body }
      const old = received - 400 * DAY_MS
      const events = [
        imported('a', { payload, receivedAt: old }),
        imported('none'),
        imported('dead', { payload, state: 'failed', reason: 'no such order' }),
      ]
      assert.deepEqual(await store.imports.add(events), [true, true, true])
      assert.deepEqual(new Uint8Array((await store.inspect.payload(key('a')))!.body), body)
      assert.equal(await store.inspect.payload(key('none')), null)
      assert.equal((await store.stats())[0]?.dead, 1)
      await store.operate({ verb: 'retry', events: [key('dead')], actor: 'ada', note: 'mended' })
      const [claimed] = await store.claim({ worker: 'w', limit: 10, leaseMs: LEASE_MS })
      assert.equal(claimed?.id, 'dead')
      assert.deepEqual(new Uint8Array(claimed.body!), body)
    },
    needs: ['inspect'],
  },
  {
    name: 'an imported event without a payload is not replayed, and stays succeeded',
    async run(harness) {
      const store = await harness.open()
      await store.imports.add([imported('a')])
      const order = { verb: 'replay', events: [key('a')], actor: 'ada', note: '', force: true } as const
      assert.deepEqual(await store.operate(order), [{ done: false, code: 'PAYLOAD_REMOVED' }])
      assert.equal((await store.get(key('a')))?.state, 'succeeded')
    },
  },
  {
    name: 'imported events break no invariant of the log',
    async run(harness) {
      const store = await harness.open()
      const payload = { headers: {}, body: bytes('{}') }
      await store.imports.add([
        imported('a'),
        imported('i', { state: 'ignored' }),
        imported('d', { state: 'failed', payload }),
      ])
      const { invariants } = await store.inspect.report()
      assert.deepEqual(
        invariants.filter(({ ok }) => !ok),
        [],
      )
    },
    needs: ['inspect'],
  },
  {
    name: 'a failed event without a payload is refused, because there is nothing to retry',
    async run(harness) {
      const store = await harness.open()
      await assert.rejects(store.imports.add([imported('a', { state: 'failed' })]), { code: 'INVALID_INPUT' })
      assert.equal(await store.get(key('a')), null)
    },
  },
]
