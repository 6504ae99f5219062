/** Unsigned ids: known signed content under a new id, and other signed content under a known id. */
import assert from 'node:assert/strict'
import type { NewDelivery, Outcome } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claim,
  delivery,
  event,
  get,
  key,
  listAll,
  openSeveral,
  range,
  record,
  sha256,
  succeeded,
} from './support.js'

/** A delivery whose signature covers its content but not its id. */
function signed(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(id, { contentHash: sha256(content), guardHash: sha256(content) }), {
    body: bytes(content),
    contentGuard: 'accept',
    ...more,
  })
}

async function bodyOf(store: CompleteStore, id: string): Promise<string | null> {
  const payload = await store.inspect.payload(key(id))
  return payload && Buffer.from(payload.body).toString()
}

async function otherBodyOf(store: CompleteStore, id: string): Promise<string | null> {
  const conflict = await store.inspect.conflict(key(id))
  return conflict && Buffer.from(conflict.body).toString()
}

async function claimedIds(store: CompleteStore): Promise<string[]> {
  return (await claim(store)).map((claimed) => claimed.id).sort()
}

export const flagCases: readonly ContractCase[] = [
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
        (await listAll(store, { flagged: true })).map((e) => e.id),
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
      const [verdict] = await record(store, signed('second', 'same', { contentGuard: 'review' }))
      assert.ok(verdict?.status === 'recorded' && verdict.state === 'ignored')
      assert.equal(verdict.sameAs, 'first')
      assert.equal((await get(store, key('second'))).sameAs, 'first')
    },
  },
  {
    name: 'other content under a known id is a conflict: the first stays, and the other is kept beside it',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, signed('x', 'first'), signed('y', 'third'))
      await attempt(store, key('x'), succeeded)
      const verdicts = await record(store, signed('x', 'second'), signed('y', 'fourth'))
      for (const verdict of verdicts) assert.ok(verdict.status === 'duplicate' && !verdict.equal)
      assert.equal((await listAll(store)).length, 2)
      assert.equal(await bodyOf(store, 'x'), 'first')
      assert.equal(
        await otherBodyOf(store, 'x'),
        'second',
        'it is there as soon as the sender has its answer',
      )
      assert.deepEqual((await listAll(store, { hasConflict: true })).map((e) => e.id).sort(), ['x', 'y'])
    },
  },
  {
    name: 'of several contents under one id in a batch the first is recorded, and the others are kept beside it',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const contents = ['one', 'two', 'one', 'two', 'three']
      const verdicts = await record(store, ...contents.map((content) => signed('x', content)))
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'duplicate' ? v.equal : v.status)),
        ['recorded', false, true, false, false],
      )
      assert.equal(await bodyOf(store, 'x'), 'one')
      const found = await get(store, key('x'))
      assert.equal(found.conflicts, 3)
      assert.equal(await otherBodyOf(store, 'x'), 'three')
    },
  },
  {
    name: 'a new signature over the same content is the same event',
    async run({ open }) {
      const store = await open()
      await record(store, signed('x', 'content'))
      const again = event('x', { contentHash: sha256('content'), guardHash: sha256('signed anew') })
      const [verdict] = await record(store, delivery(again, { contentGuard: 'accept' }))
      assert.ok(verdict?.status === 'duplicate' && verdict.equal)
    },
  },
  {
    name: 'an operator can run the other content of a conflict; the two then change places',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const two = delivery([
        event('x', { contentHash: sha256('first') }),
        event('sibling', { contentHash: sha256('sibling') }),
      ])
      await store.record([{ ...two, body: bytes('first') }])
      await attempt(store, key('x'), succeeded)
      await record(store, signed('x', 'second'))
      const order = {
        verb: 'replay',
        events: [key('x')],
        actor: 'me',
        note: 'asked',
        conflict: true,
      } as const
      assert.deepEqual(await store.operate(order), [{ done: false, code: 'FORCE_NEEDED' }])
      const [result] = await store.operate({ ...order, force: true })
      assert.ok(result?.done)
      const claimed = (await claim(store)).find((one) => one.id === 'x')!
      assert.equal(Buffer.from(claimed.body!).toString(), 'second')
      assert.equal(claimed.contentHash, Buffer.from(sha256('second')).toString('hex'))
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['second', 'first'])
      assert.equal(await bodyOf(store, 'sibling'), 'first', 'another event of the delivery keeps its bytes')
      const [again] = await record(store, signed('x', 'second'))
      assert.ok(again?.status === 'duplicate' && again.equal, 'this content is the event now')
      await store.settle([{ lease: claimed.lease, outcome: succeeded, durationMs: 1 }])
      assert.ok((await store.operate({ ...order, force: true }))[0]?.done)
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['first', 'second'])
      const [none] = await store.operate({ ...order, events: [key('sibling')], verb: 'retry' })
      assert.ok(none && !none.done, 'it has no conflict')
    },
  },
  {
    name: 'an id that withheld content has does not keep other content from being handled',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'))
      await record(store, signed('x', 'captured', { contentGuard: 'review' }))
      const [verdict] = await record(store, signed('x', 'real', { contentGuard: 'review' }))
      assert.ok(verdict?.status === 'duplicate' && !verdict.equal && verdict.state === 'pending')
      assert.deepEqual(await claimedIds(store), ['a', 'x'])
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['real', 'captured'])
    },
  },
  {
    name: 'of several contents that come at once under a withheld id the first takes it over, and the others stay open',
    needs: ['inspect', 'audit'],
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'))
      await record(store, signed('x', 'captured', { contentGuard: 'review' }))
      const verdicts = await store.record(
        ['real', 'other', 'real'].map((content) => signed('x', content, { contentGuard: 'review' })),
      )
      assert.deepEqual(
        verdicts.flat().map((v) => v.status === 'duplicate' && [v.state, v.final, v.equal]),
        [
          ['pending', false, false],
          ['pending', false, false],
          ['pending', false, true],
        ],
      )
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['real', 'other'])
      assert.deepEqual(
        (await listAll(store, { hasConflict: true })).map((e) => e.id),
        ['x'],
      )
      assert.equal((await get(store, key('x'))).conflicts, 2)
      const { audits } = await store.audit.list({ eventId: 'x' })
      assert.deepEqual(
        audits.map(({ actor, verb }) => [actor, verb]),
        [['hookonce', 'retry']],
      )
    },
  },
  {
    name: 'content that takes over an id brings its own type, reference and guard, and is no longer flagged',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const review = { contentGuard: 'review' } as const
      await record(store, signed('a', 'captured'))
      await record(store, signed('x', 'captured', review))
      const hashes = { contentHash: sha256('real'), guardHash: sha256('real') }
      const real = event('x', { ...hashes, type: 'paid', reference: 'cus_1' })
      await record(store, delivery(real, { body: bytes('real'), ...review }))
      const { type, reference, sameAs } = await get(store, key('x'))
      assert.deepEqual([type, reference, sameAs], ['paid', 'cus_1', null])
      const [third] = await record(store, signed('y', 'real', review))
      assert.ok(third?.status === 'recorded' && third.state === 'ignored')
      assert.equal(third.sameAs, 'x')
    },
  },
  {
    name: 'content that is itself known under another id does not take over a withheld id',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const review = { contentGuard: 'review' } as const
      await record(store, signed('a', 'captured'), signed('b', 'captured too'))
      await record(store, signed('x', 'captured', review))
      const [verdict] = await record(store, signed('x', 'captured too', review))
      assert.ok(verdict?.status === 'duplicate' && !verdict.equal && verdict.final)
      assert.deepEqual([verdict.state, await bodyOf(store, 'x')], ['ignored', 'captured'])
      assert.deepEqual(await claimedIds(store), ['a', 'b'])
      assert.ok((await get(store, key('x'))).lastConflict?.decidedAt === null, 'a person decides')
    },
  },
  {
    name: 'only hookonce withholds: an event that its handler ignored, whatever the reason, is not taken over',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const reason: Outcome = { kind: 'ignored', reason: 'replayed_content' }
      await record(store, signed('plain', 'first'), signed('a', 'captured'))
      await record(store, signed('x', 'captured', { contentGuard: 'review' }))
      await attempt(store, key('plain'), reason)
      await store.operate({ verb: 'retry', events: [key('x')], actor: 'ada', note: 'it is genuine' })
      await attempt(store, key('x'), reason)
      for (const id of ['plain', 'x']) {
        const [verdict] = await record(store, signed(id, 'second', { contentGuard: 'review' }))
        assert.ok(verdict?.status === 'duplicate' && verdict.final, id)
        const found = await get(store, key(id))
        assert.deepEqual(
          [verdict.state, found.state, found.lastConflict?.decidedAt],
          ['ignored', 'ignored', null],
        )
      }
      assert.deepEqual([await bodyOf(store, 'plain'), await bodyOf(store, 'x')], ['first', 'captured'])
    },
  },
  {
    name: 'content that takes over an id is not kept beside itself when it comes twice at once',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, signed('a', 'captured'))
      await record(store, signed('x', 'captured', { contentGuard: 'review' }))
      const real = signed('x', 'real', { contentGuard: 'review' })
      await store.record([real, real])
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['real', 'captured'])
      assert.deepEqual(await claimedIds(store), ['a', 'x'])
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
        assert.equal(verdicts.flat().filter((v) => v.status === 'recorded').length, 1)
        const bodies = [await bodyOf(stores[0]!, id), await otherBodyOf(stores[0]!, id)]
        assert.deepEqual(bodies.sort(), ['captured', `real ${i}`])
      }
    },
  },
]
