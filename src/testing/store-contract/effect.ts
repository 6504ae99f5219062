/** Named side effects: a finished one is never repeated, and what is not known is said to be unknown. */
import assert from 'node:assert/strict'
import type { Lease } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import {
  attempt,
  changesNothing,
  claimOne,
  failedFor,
  key,
  LEASE_MS,
  recordOne,
  rejects,
  settle,
  settleIn,
} from './support.js'

const of = key('evt')
const start = (store: CompleteStore, lease: Lease, name = 'mail') =>
  store.keys.effect({ step: 'start', lease, name })
const finish = (store: CompleteStore, lease: Lease, result: string, name = 'mail') =>
  store.keys.effect({ step: 'finish', lease, name, result })

export const effectCases: readonly ContractCase[] = [
  {
    name: 'an effect that was finished is found finished in every later attempt, with its result',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      assert.deepEqual(await start(store, first.lease), { state: 'new' })
      assert.deepEqual(await finish(store, first.lease, '{"id":"m\u00e91"}'), {
        state: 'finished',
        result: '{"id":"m\u00e91"}',
      })
      await settle(store, first.lease, failedFor(0))
      const second = await claimOne(store, of)
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: '{"id":"m\u00e91"}' })
      await advance(LEASE_MS + 1)
      const third = await claimOne(await open(), of)
      assert.deepEqual(await start(store, third.lease), { state: 'finished', result: '{"id":"m\u00e91"}' })
    },
  },
  {
    name: 'an effect that was started and never finished is unknown to the next attempt',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      await start(store, first.lease)
      await advance(LEASE_MS + 1)
      const second = await claimOne(store, of)
      assert.deepEqual(await start(store, second.lease), { state: 'unknown' })
      assert.deepEqual(await finish(store, second.lease, 'second'), { state: 'finished', result: 'second' })
    },
  },
  {
    name: 'the first result stays: a frozen worker that comes back cannot replace it',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      await start(store, first.lease)
      await advance(LEASE_MS + 1)
      const second = await claimOne(store, of)
      await start(store, second.lease)
      assert.deepEqual(await finish(store, first.lease, 'late'), { state: 'fenced' })
      await finish(store, second.lease, 'right')
      assert.deepEqual(await finish(store, first.lease, 'later'), { state: 'fenced' })
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'right' })
    },
  },
  {
    name: 'the first result stays: who finishes again is told what was really done',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      await start(store, first.lease)
      await finish(store, first.lease, 'first')
      assert.deepEqual(await finish(store, first.lease, 'again'), { state: 'finished', result: 'first' })
      await settle(store, first.lease, failedFor(0))
      const second = await claimOne(store, of)
      assert.deepEqual(await finish(store, second.lease, 'second'), { state: 'finished', result: 'first' })
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'first' })
    },
  },
  {
    name: 'an effect that is known not to have happened is forgotten, and one that was finished is not',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      const drop = (lease: Lease) => ({ step: 'drop', lease, name: 'mail' }) as const
      assert.deepEqual(await store.keys.effect(drop(first.lease)), { state: 'new' }, 'it was never started')
      await start(store, first.lease)
      assert.deepEqual(await store.keys.effect(drop(first.lease)), { state: 'new' })
      await settle(store, first.lease, failedFor(0))
      const second = await claimOne(store, of)
      assert.deepEqual(await start(store, second.lease), { state: 'new' })
      const transaction = await store.transaction()
      assert.deepEqual(await transaction.keys!.effect(drop(second.lease)), { state: 'new' })
      await transaction.rollback()
      assert.deepEqual(await start(store, second.lease), { state: 'unknown' })
      await finish(store, second.lease, 'sent')
      await store.keys.effect(drop(second.lease))
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'sent' })
      await advance(LEASE_MS + 1)
      assert.deepEqual(await store.keys.effect(drop(second.lease)), { state: 'fenced' })
    },
  },
  {
    name: 'a dead lease starts no effect',
    async run({ open, advance }) {
      const store = await open()
      await recordOne(store, 'evt')
      const first = await claimOne(store, of)
      await advance(LEASE_MS + 1)
      assert.deepEqual(await start(store, first.lease), { state: 'fenced' })
      const second = await claimOne(store, of)
      assert.deepEqual(await start(store, first.lease), { state: 'fenced' })
      assert.deepEqual(await start(store, second.lease), { state: 'new' }, 'nobody had started it')
    },
  },
  {
    name: 'effects are told apart by name and by event',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      await recordOne(store, 'other')
      const [one, two] = [await claimOne(store, of), await claimOne(store, key('other'))]
      await start(store, one.lease, 'mail')
      await finish(store, one.lease, 'sent', 'mail')
      assert.deepEqual(await start(store, one.lease, 'Mail'), { state: 'new' })
      assert.deepEqual(await start(store, two.lease, 'mail'), { state: 'new' })
    },
  },
  {
    name: 'an empty result and one of the greatest size come back whole',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of)
      for (const [name, result] of [
        ['empty', ''],
        ['large', 'x'.repeat(262_144)],
      ] as const) {
        await start(store, lease, name)
        await finish(store, lease, result, name)
        assert.deepEqual(await start(store, lease, name), { state: 'finished', result })
      }
    },
  },
  {
    name: 'a result over the greatest size is refused, and another may be written in its place',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of)
      await start(store, lease)
      await rejects(() => finish(store, lease, 'x'.repeat(262_145)), 'INVALID_INPUT')
      assert.deepEqual(await start(store, lease), { state: 'unknown' })
      await finish(store, lease, '!not kept')
      assert.deepEqual(await start(store, lease), { state: 'finished', result: '!not kept' })
    },
  },
  {
    name: "an effect is written at once: it stays when the handler's transaction is rolled back",
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of)
      await start(store, lease)
      await finish(store, lease, 'sent')
      const transaction = await store.transaction()
      await settleIn(transaction, lease, { kind: 'succeeded' })
      await transaction.rollback()
      assert.deepEqual(await start(store, lease), { state: 'finished', result: 'sent' })
    },
  },
  {
    name: "an effect written in the handler's transaction is there when it commits, and undone when it does not",
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await claimOne(store, of)
      const undone = await store.transaction()
      assert.deepEqual(await undone.keys!.effect({ step: 'start', lease, name: 'mail' }), { state: 'new' })
      await undone.keys!.effect({ step: 'finish', lease, name: 'mail', result: 'undone' })
      await undone.rollback()
      const kept = await store.transaction()
      assert.deepEqual(await kept.keys!.effect({ step: 'start', lease, name: 'mail' }), { state: 'new' })
      await kept.keys!.effect({ step: 'finish', lease, name: 'mail', result: 'kept' })
      await kept.commit()
      assert.deepEqual(await start(store, lease), { state: 'finished', result: 'kept' })
      await settle(store, lease, failedFor(0))
      const fenced = await store.transaction()
      assert.deepEqual(await fenced.keys!.effect({ step: 'start', lease, name: 'other' }), {
        state: 'fenced',
      })
      await fenced.rollback()
    },
  },
  {
    name: 'an effect of a finished attempt can no longer be written',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      const { lease } = await attempt(store, of, { kind: 'succeeded' })
      await changesNothing(store, of, async () => {
        assert.deepEqual(await start(store, lease), { state: 'fenced' })
        assert.deepEqual(await finish(store, lease, 'sent'), { state: 'fenced' })
      })
    },
  },
]
