/** Named side effects: a finished effect is never repeated, and a started one without a result is `unknown`. */
import assert from 'node:assert/strict'
import type { Lease } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  type ContractCase,
  changesNothing,
  claimEvent,
  dead,
  failedFor,
  key,
  LEASE_MS,
  LONG_AFTER_MS,
  operate,
  recordEvent,
  rejects,
  settle,
  settleIn,
} from './support.js'

const of = key('evt')
const start = (store: CompleteStore, lease: Lease, name = 'mail') =>
  store.keys.effect({ step: 'start', lease, name })
/** The state without its age. */
const stateAt = async (store: CompleteStore, lease: Lease, name = 'mail') => {
  const { state } = await start(store, lease, name)
  return { state }
}
const finish = (store: CompleteStore, lease: Lease, result: string, name = 'mail') =>
  store.keys.effect({ step: 'finish', lease, name, result })

export const effectCases: readonly ContractCase[] = [
  {
    name: 'a finished effect is `finished` in every later attempt, with its result',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      assert.deepEqual(await start(store, first.lease), { state: 'new' })
      assert.deepEqual(await finish(store, first.lease, '{"id":"m\u00e91"}'), {
        state: 'finished',
        result: '{"id":"m\u00e91"}',
      })
      await settle(store, first.lease, failedFor(0))
      const second = await claimEvent(store, of)
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: '{"id":"m\u00e91"}' })
      await advance(LEASE_MS + 1)
      const third = await claimEvent(await open(), of)
      assert.deepEqual(await start(store, third.lease), { state: 'finished', result: '{"id":"m\u00e91"}' })
    },
  },
  {
    name: 'an effect that was started and not finished is `unknown` in the next attempt',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await start(store, first.lease)
      await advance(LEASE_MS + 1)
      const second = await claimEvent(store, of)
      assert.deepEqual(await stateAt(store, second.lease), { state: 'unknown' })
      assert.deepEqual(await finish(store, second.lease, 'second'), { state: 'finished', result: 'second' })
    },
  },
  {
    name: 'the first result stays: a frozen worker that resumes cannot replace it',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await start(store, first.lease)
      await advance(LEASE_MS + 1)
      const second = await claimEvent(store, of)
      await start(store, second.lease)
      assert.deepEqual(await finish(store, first.lease, 'late'), { state: 'fenced' })
      await finish(store, second.lease, 'right')
      assert.deepEqual(await finish(store, first.lease, 'later'), { state: 'fenced' })
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'right' })
    },
  },
  {
    name: 'the first result stays: a second finish returns the first result',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await start(store, first.lease)
      await finish(store, first.lease, 'first')
      assert.deepEqual(await finish(store, first.lease, 'again'), { state: 'finished', result: 'first' })
      await settle(store, first.lease, failedFor(0))
      const second = await claimEvent(store, of)
      assert.deepEqual(await finish(store, second.lease, 'second'), { state: 'finished', result: 'first' })
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'first' })
    },
  },
  {
    name: 'a late result is kept when its effect was started, has no result, and nobody has the event',
    async run({ open, advance }) {
      const store = await open()
      const late = (lease: Lease, result: string) =>
        store.keys.effect({ step: 'finish', lease, name: 'mail', result, late: true })
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await start(store, first.lease)
      await advance(LEASE_MS + 1)
      const second = await claimEvent(store, of)
      assert.deepEqual(await late(first.lease, 'first'), { state: 'fenced' }, 'another worker has the event')
      assert.deepEqual(await stateAt(store, second.lease), { state: 'unknown' })
      await settle(store, second.lease, failedFor(0))
      assert.deepEqual(await late(first.lease, 'first'), { state: 'finished', result: 'first' })
      assert.deepEqual(await late(second.lease, 'second'), { state: 'fenced' }, 'it has a result')
      const third = await claimEvent(store, of)
      assert.deepEqual(await start(store, third.lease), { state: 'finished', result: 'first' })
      await settle(store, third.lease, failedFor(0))
      const never = { step: 'finish', lease: third.lease, name: 'other', result: '1', late: true } as const
      assert.deepEqual(await store.keys.effect(never), { state: 'fenced' }, 'it was never started')
    },
  },
  {
    name: 'a started effect can be dropped, a finished one cannot',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      const drop = (lease: Lease) => ({ step: 'drop', lease, name: 'mail' }) as const
      assert.deepEqual(await store.keys.effect(drop(first.lease)), { state: 'new' }, 'it was never started')
      await start(store, first.lease)
      assert.deepEqual(await store.keys.effect(drop(first.lease)), { state: 'new' })
      await settle(store, first.lease, failedFor(0))
      const second = await claimEvent(store, of)
      assert.deepEqual(await start(store, second.lease), { state: 'new' })
      const transaction = await store.transaction()
      assert.deepEqual(await transaction.keys!.effect(drop(second.lease)), { state: 'new' })
      await transaction.rollback()
      assert.deepEqual(await stateAt(store, second.lease), { state: 'unknown' })
      await finish(store, second.lease, 'sent')
      await store.keys.effect(drop(second.lease))
      assert.deepEqual(await start(store, second.lease), { state: 'finished', result: 'sent' })
      await advance(LEASE_MS + 1)
      assert.deepEqual(await store.keys.effect(drop(second.lease)), { state: 'fenced' })
    },
  },
  {
    name: 'an expired lease starts no effect',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      assert.deepEqual(await start(store, first.lease), { state: 'fenced' })
      const second = await claimEvent(store, of)
      assert.deepEqual(await start(store, first.lease), { state: 'fenced' })
      assert.deepEqual(await start(store, second.lease), { state: 'new' }, 'nobody had started it')
    },
  },
  {
    name: 'effects are told apart by name and by event',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await recordEvent(store, 'other')
      const [one, two] = [await claimEvent(store, of), await claimEvent(store, key('other'))]
      await start(store, one.lease, 'mail')
      await finish(store, one.lease, 'sent', 'mail')
      assert.deepEqual(await start(store, one.lease, 'Mail'), { state: 'new' })
      assert.deepEqual(await start(store, two.lease, 'mail'), { state: 'new' })
    },
  },
  {
    name: 'an empty result and a result of the largest size come back whole',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
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
    name: 'a result over the largest size is refused, and the effect can still be finished',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      await start(store, lease)
      await rejects(() => finish(store, lease, 'x'.repeat(262_145)), 'INVALID_INPUT')
      assert.deepEqual(await stateAt(store, lease), { state: 'unknown' })
      await finish(store, lease, '!not kept')
      assert.deepEqual(await start(store, lease), { state: 'finished', result: '!not kept' })
    },
  },
  {
    name: "an effect is written at once: it stays when the handler's transaction is rolled back",
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
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
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
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
      await recordEvent(store, 'evt')
      const { lease } = await attempt(store, of, { kind: 'succeeded' })
      await changesNothing(store, of, async () => {
        assert.deepEqual(await start(store, lease), { state: 'fenced' })
        assert.deepEqual(await finish(store, lease, 'sent'), { state: 'fenced' })
      })
    },
  },
  {
    name: 'the age of an unknown effect counts from its first start, whoever starts it again',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      await start(store, first.lease)
      for (const times of [1, 2]) {
        await advance(LEASE_MS + 1)
        const { lease } = await claimEvent(store, of)
        const known = await start(store, lease)
        assert.ok(known.state === 'unknown')
        assert.ok(known.ageMs > times * LEASE_MS, `${known.ageMs} ms`)
        assert.ok(known.ageMs < times * LEASE_MS + LONG_AFTER_MS, `${known.ageMs} ms`)
      }
    },
  },
  {
    name: 'an operator decides about an unknown effect: it did not happen, or it did, with a result',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await recordEvent(store, 'other')
      await start(store, (await claimEvent(store, key('other'))).lease)
      for (const verb of ['retry', 'replay'] as const) {
        const { lease } = await claimEvent(store, of)
        for (const name of [`${verb} yes`, `${verb} no`, `${verb} open`]) await start(store, lease, name)
        await settle(store, lease, dead)
        const effects = { [`${verb} yes`]: '"y"', [`${verb} no`]: null }
        assert.ok((await operate(store, verb, of, { effects, dryRun: true })).done)
        assert.ok((await operate(store, verb, of, { effects })).done)
        const next = await claimEvent(store, of)
        assert.deepEqual(await start(store, next.lease, `${verb} yes`), { state: 'finished', result: '"y"' })
        assert.deepEqual(await start(store, next.lease, `${verb} no`), { state: 'new' })
        assert.deepEqual(await stateAt(store, next.lease, `${verb} open`), { state: 'unknown' })
        await settle(store, next.lease, failedFor(0))
      }
      const { lease } = await claimEvent(store, of)
      assert.deepEqual(await start(store, lease, 'mail'), { state: 'new' }, 'of another event')
    },
  },
  {
    name: 'an operator cannot decide about an effect whose end is known, and nothing is changed',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      await start(store, lease)
      await start(store, lease, 'sent')
      await finish(store, lease, '"s"', 'sent')
      await settle(store, lease, dead)
      for (const effects of [{ sent: null }, { sent: '"x"' }, { typo: '"x"' }, { mail: null, typo: null }])
        await changesNothing(store, of, () =>
          rejects(() => operate(store, 'retry', of, { effects }), 'INVALID_INPUT'),
        )
      await rejects(() => operate(store, 'ignore', of, { effects: { mail: null } }), 'INVALID_INPUT')
      await operate(store, 'retry', of)
      const next = await claimEvent(store, of)
      assert.deepEqual(await stateAt(store, next.lease), { state: 'unknown' })
      assert.deepEqual(await start(store, next.lease, 'sent'), { state: 'finished', result: '"s"' })
    },
  },
]
