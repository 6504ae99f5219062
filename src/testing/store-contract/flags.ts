/** Unsigned ids: known signed content under a new id, and other signed content under a known id. */
import assert from 'node:assert/strict'
import { contestedId, type NewDelivery, type RecordVerdict } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claim,
  delivery,
  event,
  flush,
  get,
  key,
  listAll,
  openSeveral,
  operate,
  range,
  record,
  sha256,
  succeeded,
} from './support.js'

/** A delivery whose signature covers its content but not its id. */
function signed(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(id, { contentHash: sha256(content), guardHash: sha256(content) }), {
    body: bytes(content),
    onReplayedContent: 'flag',
    ...more,
  })
}

/** The contested id that `id` gets for this content. */
const ownId = (id: string, content: string) => contestedId(signed(id, content).events[0]!)

function kept(verdict: RecordVerdict | undefined): string | undefined {
  return verdict?.status === 'recorded' ? verdict.storedAs : undefined
}

async function bodyOf(store: CompleteStore, id: string): Promise<string | null> {
  const payload = await store.inspect.payload(key(id))
  return payload && Buffer.from(payload.body).toString()
}

async function claimedIds(store: CompleteStore): Promise<string[]> {
  return (await claim(store)).map((claimed) => claimed.eventId).sort()
}

export const flagCases: readonly ContractCase[] = [
  {
    name: 'the policy reject also rejects known signed content under a contested id',
    async run({ open }) {
      const store = await open()
      await record(store, signed('first', 'same'), signed('other', 'else'))
      // The id `taken` is contested: the event under it has the content of another event.
      await record(store, signed('taken', 'same'))
      const [verdict] = await record(store, signed('taken', 'else', { onReplayedContent: 'reject' }))
      assert.equal(verdict?.status, 'replayed')
      assert.deepEqual(await claimedIds(store), ['first', 'other', 'taken'])
    },
  },
  {
    name: 'known signed content under a new id is handled, and flagged with the id of the first event',
    async run({ open }) {
      const store = await open()
      await record(store, signed('first', 'same'), signed('other', 'else'))
      const [verdict] = await record(store, signed('second', 'same'))
      assert.ok(verdict?.status === 'recorded' && verdict.state === 'pending')
      assert.equal(verdict.sameAs, 'first')
      assert.equal((await get(store, key('second'))).sameAs, 'first')
      assert.equal((await get(store, key('first'))).sameAs, null)
      assert.deepEqual(await claimedIds(store), ['first', 'other', 'second'])
      assert.deepEqual(
        (await listAll(store, { flagged: true })).map((e) => e.eventId),
        ['second'],
      )
      assert.equal((await listAll(store, { flagged: false })).length, 2)
      const [again] = await record(store, signed('second', 'same'))
      assert.ok(again?.status === 'duplicate' && again.equal, 'its redelivery is a plain duplicate')
    },
  },
  {
    name: 'equal content in one batch and from many writers is handled each time, and all but the first event are flagged',
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      const inBatch = await record(stores[0]!, ...range(50).map((i) => signed(`batch ${i}`, 'one')))
      const atOnce = await Promise.all(
        range(40).map(async (i) => (await record(stores[i % 2]!, signed(`own ${i}`, 'two')))[0]!),
      )
      for (const verdicts of [inBatch, atOnce]) {
        const flags = verdicts.map((v) => (v.status === 'recorded' ? v.sameAs : v.status))
        assert.equal(flags.filter((flag) => flag === undefined).length, 1, 'one is the first')
        const [first, ...more] = new Set(flags.filter((flag) => flag !== undefined))
        assert.deepEqual(more, [], 'all name the same one')
        assert.equal((await get(stores[0]!, key(first!))).sameAs, null)
        assert.ok(verdicts.every((v) => v.status === 'recorded' && v.state === 'pending'))
      }
    },
  },
  {
    name: 'withheld content is flagged too',
    async run({ open }) {
      const store = await open()
      await record(store, signed('first', 'same'))
      const [verdict] = await record(store, signed('second', 'same', { onReplayedContent: 'review' }))
      assert.ok(verdict?.status === 'recorded' && verdict.state === 'ignored')
      assert.equal(verdict.sameAs, 'first')
      assert.equal((await get(store, key('second'))).sameAs, 'first')
    },
  },
  {
    name: 'an id taken by replayed content does not block the genuine event: both are kept',
    needs: ['inspect'],
    async run({ open }) {
      for (const policy of ['flag', 'review'] as const) {
        const store = await open()
        const [a, x] = [`${policy} a`, `${policy} x`]
        await record(store, signed(a, `captured ${policy}`))
        await record(store, signed(x, `captured ${policy}`, { onReplayedContent: policy }))
        const [verdict] = await record(store, signed(x, `real ${policy}`))
        const own = ownId(x, `real ${policy}`)
        assert.equal(kept(verdict), own)
        assert.ok(verdict?.status === 'recorded' && verdict.state === 'pending')
        const found = await get(store, key(own))
        assert.deepEqual([found.contests, found.sameAs], [x, null])
        assert.equal(await bodyOf(store, own), `real ${policy}`)
        assert.equal(await bodyOf(store, x), `captured ${policy}`)
        assert.ok((await listAll(store, { flagged: true })).some((e) => e.eventId === own))
        assert.ok((await claimedIds(store)).includes(own), 'a handler gets it')
      }
    },
  },
  {
    name: 'a redelivery of an event with a contested id is a duplicate, also after it was handled',
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'), signed('x', 'captured'), signed('x', 'real'))
      const own = ownId('x', 'real')
      const { seq } = await get(store, key(own))
      const [pending] = await record(store, signed('x', 'real'))
      assert.deepEqual(pending, {
        status: 'duplicate',
        seq,
        state: 'pending',
        final: false,
        equal: true,
        storedAs: own,
      })
      await attempt(store, key(own), succeeded)
      const [done] = await record(store, signed('x', 'real'))
      assert.deepEqual(done, { ...pending, state: 'succeeded', final: true })
      await flush(store)
      assert.equal((await get(store, key(own))).deliveries, 3)
      const [captured] = await record(store, signed('x', 'captured'))
      assert.ok(captured?.status === 'duplicate' && captured.equal && captured.storedAs === undefined)
      assert.equal((await listAll(store)).length, 3)
    },
  },
  {
    name: 'an id is contested as soon as another event has the same content as the event under it',
    async run({ open }) {
      const store = await open()
      await record(store, signed('x', 'captured'))
      const [clean] = await record(store, signed('x', 'real'))
      assert.ok(clean?.status === 'duplicate' && !clean.equal, 'nothing speaks against it yet: a conflict')
      await record(store, signed('a', 'captured'))
      const [contested] = await record(store, signed('x', 'real'))
      assert.equal(kept(contested), ownId('x', 'real'))
    },
  },
  {
    name: 'other signed content under a clean id stays a conflict',
    async run({ open }) {
      const store = await open()
      await record(store, signed('x', 'first'), signed('y', 'third'))
      await attempt(store, key('x'), succeeded)
      const verdicts = await record(store, signed('x', 'second'), signed('y', 'fourth'))
      for (const verdict of verdicts) assert.ok(verdict.status === 'duplicate' && !verdict.equal)
      assert.equal((await listAll(store)).length, 2)
    },
  },
  {
    name: 'a signed id is never contested',
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'), signed('x', 'captured'))
      const own = event('x', { contentHash: sha256('real') })
      const [verdict] = await record(store, delivery(own))
      assert.ok(verdict?.status === 'duplicate' && !verdict.equal)
    },
  },
  {
    name: 'equal content under another signature is the same event, also where its id is contested',
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'), signed('x', 'captured'))
      const again = event('x', { contentHash: sha256('captured'), guardHash: sha256('signed anew') })
      const [verdict] = await record(store, delivery(again, { onReplayedContent: 'flag' }))
      assert.ok(verdict?.status === 'duplicate' && verdict.equal)
    },
  },
  {
    name: 'an id can be contested inside one batch, in any order of its events',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'))
      const verdicts = await record(
        store,
        signed('x', 'captured'),
        signed('x', 'real'),
        signed('x', 'captured'),
        signed('x', 'real'),
        signed('x', 'third'),
        signed('b', 'else'),
      )
      assert.deepEqual(
        verdicts.map((v) => [v.status, 'storedAs' in v ? v.storedAs : undefined]),
        [
          ['recorded', undefined],
          ['recorded', ownId('x', 'real')],
          ['duplicate', undefined],
          ['duplicate', ownId('x', 'real')],
          ['recorded', ownId('x', 'third')],
          ['recorded', undefined],
        ],
      )
      assert.equal(await bodyOf(store, ownId('x', 'real')), 'real')
      assert.equal(await bodyOf(store, ownId('x', 'third')), 'third')
    },
  },
  {
    name: 'a captured delivery that races the genuine event never displaces its bytes',
    needs: ['inspect'],
    async run(harness) {
      const stores = await openSeveral(harness, 2)
      await record(stores[0]!, signed('a', 'captured'))
      for (const i of range(25)) {
        const id = `x${i}`
        const verdicts = await Promise.all([
          record(stores[0]!, signed(id, 'captured')),
          record(stores[1]!, signed(id, `real ${i}`)),
          record(stores[i % 2]!, signed(id, `real ${i}`)),
        ])
        const wins = verdicts.flat().filter((v) => v.status === 'recorded').length
        const own = await bodyOf(stores[0]!, ownId(id, `real ${i}`))
        if ((await bodyOf(stores[0]!, id)) === `real ${i}`) {
          assert.deepEqual([wins, own], [1, null], 'the real one was first; the other is a conflict')
        } else {
          assert.deepEqual([wins, own], [2, `real ${i}`], 'the captured one was first; both are kept')
        }
      }
    },
  },
  {
    name: 'an operator who retries withheld content does not take the id from its event',
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'))
      await record(store, signed('x', 'captured', { onReplayedContent: 'review' }))
      await operate(store, 'retry', key('x'))
      await attempt(store, key('x'), succeeded)
      const [verdict] = await record(store, signed('x', 'real'))
      assert.equal(kept(verdict), ownId('x', 'real'))
    },
  },
  {
    name: 'the contested id of an event is within the length limit, and differs from those of other events',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const ids = [`${'x'.repeat(254)}1`, `${'x'.repeat(254)}2`, `${'\u00e9'.repeat(127)}!`]
      await record(store, signed('a', 'captured'))
      for (const id of ids) {
        await record(store, signed(id, 'captured'))
        const [verdict] = await record(store, signed(id, 'real'))
        const own = kept(verdict)!
        assert.ok(Buffer.byteLength(own) <= 255 && own.isWellFormed() && !own.includes('\ufffd'), own)
        assert.equal(await bodyOf(store, own), 'real')
      }
      assert.equal((await listAll(store)).length, 1 + 2 * ids.length)
    },
  },
]
