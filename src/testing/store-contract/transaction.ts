/** The handler's transaction: its writes and the outcome are committed together (promise 3, I3). */
import assert from 'node:assert/strict'
import {
  attempt,
  type ContractCase,
  changesNothing,
  claim,
  claimEvent,
  dead,
  delivery,
  failedFor,
  flush,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  range,
  record,
  recordEvent,
  rejects,
  settle,
  settleIn,
  settlement,
  snapshot,
  succeeded,
} from './support.js'

const of = key('evt')

export const transactionCases: readonly ContractCase[] = [
  {
    name: "a handler's writes and the outcome are committed together",
    needs: ['inspect'],
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      for (const [id, outcome] of [
        ['succeeded', succeeded],
        ['ignored', ignored],
        ['failed', dead],
      ] as const) {
        await recordEvent(store, id)
        const { lease } = await claimEvent(store, key(id))
        const transaction = await store.transaction()
        await insertEffect(transaction.tx, id)
        assert.equal(await settleIn(transaction, lease, outcome), true)
        await transaction.commit()
        assert.equal(await countEffects(id), 1)
        assert.equal((await get(store, key(id))).state, outcome.kind)
        assert.equal((await store.inspect.attempts(key(id)))[0]?.outcome, outcome.kind)
        assert.equal(await settle(store, lease, succeeded), false, 'the lease is used up')
      }
    },
  },
  {
    name: 'finish settles and commits in one step, whatever the outcome and however many',
    needs: ['inspect'],
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      for (const [i, outcomes] of [
        [succeeded],
        [ignored],
        [dead],
        [failedFor(0)],
        [succeeded, succeeded, ignored],
      ].entries()) {
        const ids = outcomes.map((_, k) => `f${i}-${k}`)
        for (const id of ids) await recordEvent(store, id)
        const leases = []
        for (const id of ids) leases.push((await claimEvent(store, key(id))).lease)
        const transaction = await store.transaction()
        await insertEffect(transaction.tx, `f${i}`)
        const settlements = leases.map((lease, k) => settlement(lease, outcomes[k]!))
        assert.equal(await transaction.finish(settlements), true)
        assert.equal(await countEffects(`f${i}`), 1)
        for (const [k, id] of ids.entries()) {
          assert.equal((await get(store, key(id))).state, outcomes[k]!.kind)
          assert.equal((await store.inspect.attempts(key(id))).at(-1)?.outcome, outcomes[k]!.kind)
        }
        await rejects(() => transaction.commit(), 'TRANSACTION_CLOSED')
        await transaction.rollback()
      }
    },
  },
  {
    name: 'finish with an expired lease rolls everything back and returns false',
    async run({ open, advance, insertEffect, countEffects }) {
      const store = await open()
      for (const id of ['one', 'two']) await recordEvent(store, id)
      const one = await claimEvent(store, key('one'))
      await advance(LEASE_MS + 1)
      const two = await claimEvent(store, key('two'))
      const groups = [
        [settlement(one.lease, succeeded)],
        [settlement(one.lease, ignored)],
        [settlement(two.lease, succeeded), settlement(one.lease, succeeded)],
        // A store may write outcomes of one kind in another way than a mixture.
        [settlement(two.lease, ignored), settlement(one.lease, succeeded)],
      ]
      for (const group of groups) {
        await changesNothing(store, key('two'), async () => {
          const transaction = await store.transaction()
          await insertEffect(transaction.tx, 'zombie')
          assert.equal(await transaction.finish(group), false)
          await rejects(() => transaction.settle([]), 'TRANSACTION_CLOSED')
        })
      }
      assert.equal(await countEffects('zombie'), 0)
      assert.equal((await get(store, key('one'))).state, 'pending')
      assert.equal(await settle(store, two.lease, succeeded), true)
    },
  },
  {
    name: 'the writes of a transaction are not visible outside before the commit',
    needs: ['inspect'],
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'x')
      await settleIn(transaction, lease, succeeded)
      assert.equal(await countEffects('x'), 0)
      // A store with one writer may block readers, but must not show them uncommitted writes.
      const reads = Promise.all([store.get(of), store.inspect.attempts(of), store.stats()])
      await Promise.resolve()
      await transaction.rollback()
      const [found, attempts, stats] = await reads
      assert.equal(found?.state, 'processing')
      assert.deepEqual(attempts, [])
      assert.equal(stats[0]?.succeeded, 0)
    },
  },
  {
    name: 'a rollback undoes the writes and the outcome, and the lease stays live',
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      await changesNothing(store, of, async () => {
        const transaction = await store.transaction()
        await insertEffect(transaction.tx, 'x')
        assert.equal(await settleIn(transaction, lease, succeeded), true)
        await transaction.rollback()
      })
      assert.equal(await countEffects('x'), 0)
      assert.equal(await settle(store, lease, failedFor(0)), true)
      assert.equal((await attempt(store, of, succeeded)).attempt, 2)
    },
  },
  {
    name: 'settling an expired lease in a transaction returns false, and the rollback undoes the writes',
    async run({ open, advance, insertEffect, countEffects }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const stale = await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      const fresh = await claimEvent(store, of, { worker: 'worker-2' })
      await changesNothing(store, of, async () => {
        const transaction = await store.transaction()
        await insertEffect(transaction.tx, 'zombie')
        assert.equal(await settleIn(transaction, stale.lease, succeeded), false)
        await transaction.rollback()
      })
      assert.equal(await countEffects('zombie'), 0)
      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'worker-2')
      assert.equal(await settleIn(transaction, fresh.lease, succeeded), true)
      await transaction.commit()
      assert.equal(await countEffects('worker-2'), 1)
    },
  },
  {
    name: 'a lease that expires while the transaction is open does not settle',
    async run({ open, advance, insertEffect, countEffects }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'x')
      await advance(LEASE_MS + 1)
      assert.equal(await settleIn(transaction, lease, succeeded), false)
      await transaction.rollback()
      assert.equal(await countEffects('x'), 0)
      assert.equal((await get(store, of)).state, 'pending')
    },
  },
  {
    name: 'one transaction may settle several events, all or none',
    async run({ open, insertEffect, countEffects }) {
      const store = await open()
      for (const end of ['rollback', 'commit'] as const) {
        await record(store, delivery('a'), delivery('b'), delivery('c'))
        const claimed = await claim(store)
        assert.equal(claimed.length, 3)
        const transaction = await store.transaction()
        for (const { lease } of claimed) {
          await insertEffect(transaction.tx, end)
          assert.equal(await settleIn(transaction, lease, succeeded), true)
        }
        await transaction[end]()
        assert.equal(await countEffects(end), end === 'commit' ? 3 : 0)
        if (end === 'rollback') await store.release(claimed.map((c) => c.lease))
      }
      assert.equal((await store.stats())[0]?.succeeded, 3)
    },
  },
  {
    name: 'a transaction settles a list, each lease judged on its own, in order',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'old')
      const { lease: old } = await claimEvent(store, key('old'), { leaseMs: 1_000 })
      await advance(1_001)
      await record(store, delivery('a'), delivery('b'))
      const [a, b] = [await claimEvent(store, key('a')), await claimEvent(store, key('b'))]
      const transaction = await store.transaction()
      const done = await transaction.settle([
        settlement(b.lease, ignored),
        settlement(old, succeeded),
        settlement(a.lease, succeeded),
      ])
      assert.deepEqual(done, [true, false, true])
      await transaction.rollback()
      assert.equal((await get(store, key('a'))).state, 'processing')
    },
  },
  {
    name: 'a group with one expired lease leaves nothing behind when it is rolled back, and the other leases stay live',
    async run({ open, advance, insertEffect, countEffects }) {
      const store = await open()
      const ids = ['a', 'b', 'c']
      for (const id of ids) await recordEvent(store, id)
      const stale = await claimEvent(store, key('b'), { leaseMs: 1_000 })
      await advance(1_001)
      const live = [await claimEvent(store, key('a')), await claimEvent(store, key('c'))]
      const before = await Promise.all(ids.map((id) => snapshot(store, key(id))))
      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'group')
      const group = [live[0]!, stale, live[1]!].map(({ lease }) => settlement(lease, succeeded))
      assert.deepEqual(await transaction.settle(group), [true, false, true])
      await transaction.rollback()
      assert.equal(await countEffects('group'), 0)
      assert.deepEqual(await Promise.all(ids.map((id) => snapshot(store, key(id)))), before)
      const again = await store.transaction()
      assert.deepEqual(await again.settle([]), [])
      assert.deepEqual(await again.settle([group[0]!, group[2]!]), [true, true])
      await again.commit()
      assert.equal((await store.stats())[0]?.succeeded, 2)
    },
  },
  {
    name: 'calls outside an open transaction are not part of it',
    needs: ['keys'],
    async run({ open, insertEffect }) {
      const store = await open()
      const ids = ['settled', 'extended', 'released', 'effect', 'failed', 'done']
      for (const id of [...ids, 'mine']) await recordEvent(store, id)
      const leases = Object.fromEntries((await claim(store)).map((c) => [c.id, c.lease]))
      await settle(store, leases.failed!, dead)
      await settle(store, leases.done!, succeeded)
      await recordEvent(store, 'unclaimed')

      const transaction = await store.transaction()
      await insertEffect(transaction.tx, 'x')
      assert.equal(await settleIn(transaction, leases.mine!, succeeded), true)
      // Not awaited here: a store with one writer may delay these calls until the transaction ends.
      const beside = Promise.all([
        record(store, delivery('recorded')),
        claim(store, { event: key('unclaimed'), limit: 1 }),
        settle(store, leases.settled!, succeeded),
        store.extend([leases.extended!], LEASE_MS),
        store.release([leases.released!]),
        store.keys.effect({ step: 'start', lease: leases.effect!, name: 'mail' }),
        operate(store, 'retry', key('failed')),
        operate(store, 'replay', key('done'), { force: true }),
        flush(store),
      ])
      await new Promise((resolve) => setTimeout(resolve, 20))
      await transaction.rollback()
      const [recorded, claimed, ...rest] = await beside
      assert.equal(recorded[0]?.status, 'recorded')
      assert.equal(claimed.length, 1)
      assert.deepEqual(rest.slice(0, 4), [true, [true], [true], { state: 'new' }])
      const expected = {
        recorded: 'pending',
        unclaimed: 'processing',
        settled: 'succeeded',
        extended: 'processing',
        released: 'pending',
        effect: 'processing',
        failed: 'pending',
        done: 'pending',
        mine: 'processing',
      }
      for (const [id, state] of Object.entries(expected)) {
        assert.equal((await get(store, key(id))).state, state, id)
      }
      assert.deepEqual(await store.keys.effect({ step: 'start', lease: leases.effect!, name: 'other' }), {
        state: 'new',
      })
    },
  },
  {
    name: 'many concurrent transactions each settle their own event once',
    async run({ open, insertEffect, countEffects }) {
      const stores = [await open(), await open()]
      await record(stores[0]!, ...range(20).map((i) => delivery(`e${i}`)))
      const claimed = await claim(stores[0]!)
      await Promise.all(
        claimed.flatMap(({ id, lease }, i) =>
          // Two handlers for each event, as after a frozen worker: only one of them may commit.
          range(2).map(async (n) => {
            const transaction = await stores[(i + n) % 2]!.transaction()
            await insertEffect(transaction.tx, id)
            if (await settleIn(transaction, lease, succeeded)) await transaction.commit()
            else await transaction.rollback()
          }),
        ),
      )
      for (const { id: eventId } of claimed) assert.equal(await countEffects(eventId), 1, eventId)
      assert.equal((await stores[0]!.stats())[0]?.succeeded, 20)
    },
  },
  {
    name: 'a transaction that has ended is TRANSACTION_CLOSED',
    async run({ open }) {
      const store = await open()
      for (const end of ['commit', 'rollback'] as const) {
        const own = await recordEvent(store, end)
        const { lease } = await claimEvent(store, own)
        const transaction = await store.transaction()
        await transaction[end]()
        await changesNothing(store, own, async () => {
          await rejects(() => settleIn(transaction, lease, succeeded), 'TRANSACTION_CLOSED')
          await rejects(() => transaction.commit(), 'TRANSACTION_CLOSED')
        })
        assert.equal(await settle(store, lease, succeeded), true)
      }
    },
  },
]
