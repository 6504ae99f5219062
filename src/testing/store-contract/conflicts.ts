/** Open conflicts: other content under a known id, until a person decides about it. */
import assert from 'node:assert/strict'
import type { Action, NewDelivery } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  flush,
  get,
  key,
  listAll,
  range,
  record,
  sha256,
  succeeded,
} from './support.js'

function saying(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  return delivery(event(id, { contentHash: sha256(content), reference: `about ${id}` }), {
    body: bytes(content),
    ...more,
  })
}

/** `ignore` keeps the first content, `replay` runs the other one. */
function decision(verb: Action['verb'], ...ids: string[]): Action {
  return { verb, events: ids.map((id) => key(id)), actor: 'ada', note: 'asked', force: true, conflict: true }
}

const missing = { done: false, code: 'CONFLICT_NOT_FOUND' }

async function openIds(store: CompleteStore): Promise<string[]> {
  const ids = (await listAll(store, { hasConflict: true })).map(({ id }) => id).sort()
  for (const found of await listAll(store)) {
    const isOpen = found.lastConflict?.decidedAt === null
    assert.equal(isOpen, ids.includes(found.id), `${found.id}: the record and the filter agree`)
  }
  return ids
}

async function otherBodyOf(store: CompleteStore, id: string): Promise<string | null> {
  const conflict = await store.inspect.conflict(key(id))
  return conflict && Buffer.from(conflict.body).toString()
}

async function bodyOf(store: CompleteStore, id: string): Promise<string | null> {
  const payload = await store.inspect.payload(key(id))
  return payload && Buffer.from(payload.body).toString()
}

function hashOf(content: string): string {
  return Buffer.from(sha256(content)).toString('hex')
}

export const conflictCases: readonly ContractCase[] = [
  {
    name: 'a conflict is open until an operator keeps the first content, which changes nothing else, in any state',
    needs: ['inspect', 'audit'],
    async run({ open }) {
      const store = await open()
      const states = ['pending', 'processing', 'succeeded', 'failed'] as const
      await record(store, ...states.map((id) => saying(id, 'first')))
      await attempt(store, key('succeeded'), succeeded)
      await attempt(store, key('failed'), dead)
      const { lease } = await claimEvent(store, key('processing'))
      const none = await store.operate(decision('ignore', ...states, 'unknown'))
      assert.deepEqual(none, [...states.map(() => missing), { done: false, code: 'EVENT_NOT_FOUND' }])
      await record(store, ...states.map((id) => saying(id, 'second')))
      assert.deepEqual(await openIds(store), [...states].sort())
      const before = await Promise.all(states.map((id) => get(store, key(id))))

      const done = states.map((state) => ({ done: true, from: state, to: state }))
      const dryRun = { ...decision('ignore', ...states, states[0]), dryRun: true }
      assert.deepEqual(await store.operate(dryRun), [...done, missing])
      assert.equal((await openIds(store)).length, states.length, 'a dry run decides nothing')
      assert.deepEqual(await store.operate(decision('ignore', ...states, states[0])), [...done, missing])
      assert.deepEqual(await openIds(store), [])
      for (const [i, id] of states.entries()) {
        const { lastConflict, ...after } = await get(store, key(id))
        assert.ok((lastConflict?.decidedAt ?? 0) >= lastConflict!.at, 'the time of the decision')
        const { lastConflict: open, ...same } = before[i]!
        assert.deepEqual([after, lastConflict?.hash], [same, open!.hash])
        const { audits } = await store.audit.list({ eventId: id })
        assert.deepEqual(
          audits.map(({ actor, verb, note }) => [actor, verb, note]),
          [['ada', 'ignore conflict', 'asked']],
        )
      }
      assert.deepEqual(await store.settle([{ lease, outcome: succeeded, durationMs: 1 }]), [true])
      assert.deepEqual(
        await store.operate(decision('ignore', ...states)),
        states.map(() => missing),
      )
    },
  },
  {
    name: 'content that was decided about does not open the conflict again, and a third content does',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, saying('kept', 'first'), saying('run', 'first'))
      for (const id of ['kept', 'run']) await attempt(store, key(id), succeeded)
      await record(store, saying('kept', 'second'), saying('run', 'second'))
      await store.operate(decision('ignore', 'kept'))
      assert.ok((await store.operate(decision('replay', 'run')))[0]?.done)
      assert.deepEqual(await openIds(store), [])
      for (const content of ['first', 'second'])
        await record(store, saying('kept', content), saying('run', content))
      assert.deepEqual(await openIds(store), [])
      await record(store, saying('kept', 'third'), saying('run', 'third'))
      assert.deepEqual(await openIds(store), ['kept', 'run'])
      // Another decision can follow the first one: its content is still kept.
      await store.operate(decision('ignore', 'kept', 'run'))
      assert.ok((await store.operate(decision('replay', 'kept')))[0]?.done)
      assert.deepEqual(await openIds(store), [])
    },
  },
  {
    name: 'the latest other content is the one that was recorded last, also when known content comes again',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      for (const i of range(20)) {
        const id = `e${i}`
        // Equal times, so that only the order of recording is left.
        const sent = (content: string) => saying(id, content, { receivedAt: 1_700_000_000_000 })
        await record(store, sent('first'))
        await attempt(store, key(id), succeeded)
        await store.record(range(5).map((n) => sent(`other ${(n * 7 + i) % 5}`)))
        assert.equal(await otherBodyOf(store, id), `other ${(28 + i) % 5}`)
        await store.record([sent('other 2'), sent('other 4')])
        assert.equal(await otherBodyOf(store, id), 'other 4')
        await record(store, sent('other 2'))
        assert.equal(await otherBodyOf(store, id), 'other 2')
        assert.ok((await store.operate(decision('replay', id)))[0]?.done)
        assert.equal(await otherBodyOf(store, id), 'other 4', 'the latest of those that are open')
        await store.operate(decision('ignore', id))
        assert.equal(
          await otherBodyOf(store, id),
          'first',
          'none is open: what the run replaced is the latest',
        )
      }
    },
  },
  {
    name: 'an open content stays in sight when content that was decided about comes again',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, saying('a', 'first'), saying('b', 'first'))
      for (const id of ['a', 'b']) await attempt(store, key(id), succeeded)
      await record(store, saying('a', 'second'), saying('b', 'second'))
      await store.operate(decision('ignore', 'a', 'b'))
      await record(store, saying('a', 'third'), saying('b', 'third'))
      await record(store, saying('a', 'second'), saying('b', 'second'))
      assert.deepEqual(await openIds(store), ['a', 'b'])
      assert.equal(await otherBodyOf(store, 'a'), 'third')
      assert.equal((await get(store, key('a'))).lastConflict?.hash, hashOf('third'))
      assert.ok((await store.operate(decision('replay', 'a')))[0]?.done)
      assert.equal(await bodyOf(store, 'a'), 'third')
      assert.deepEqual(await openIds(store), ['b'])
      await store.operate(decision('ignore', 'b'))
      assert.equal(await otherBodyOf(store, 'b'), 'second', 'none is open: the latest')
    },
  },
  {
    name: 'an action that names a content by its hash decides about that one only, and only while it is open',
    needs: ['inspect', 'audit'],
    async run({ open }) {
      const store = await open()
      await record(store, saying('x', 'first'))
      await attempt(store, key('x'), succeeded)
      await record(store, saying('x', 'second'))
      const seen = (await store.inspect.conflict(key('x')))!.hash
      assert.equal(seen, hashOf('second'))
      await record(store, saying('x', 'third'))
      const named = (verb: Action['verb'], conflict: string) => ({ ...decision(verb, 'x'), conflict })
      const changed = [{ done: false, code: 'CONFLICT_CHANGED' }]
      for (const verb of ['ignore', 'replay'] as const)
        assert.deepEqual(await store.operate(named(verb, hashOf('unknown'))), changed)
      const twice = { ...named('ignore', seen), events: [key('x'), key('x')] }
      assert.deepEqual(await store.operate(twice), [
        { done: true, from: 'succeeded', to: 'succeeded' },
        ...changed,
      ])
      assert.deepEqual([await openIds(store), await otherBodyOf(store, 'x')], [['x'], 'third'])
      const before = await get(store, key('x'))
      for (const verb of ['ignore', 'replay'] as const)
        assert.deepEqual(await store.operate(named(verb, seen)), changed, 'somebody has decided about it')
      assert.deepEqual(await get(store, key('x')), before)
      await record(store, saying('x', 'fourth'))
      assert.ok((await store.operate(named('replay', hashOf('third'))))[0]?.done)
      assert.equal(await bodyOf(store, 'x'), 'third')
      assert.deepEqual(await store.operate(named('ignore', hashOf('third'))), changed, 'it is the event now')
      assert.deepEqual([await openIds(store), await otherBodyOf(store, 'x')], [['x'], 'fourth'])
    },
  },
  {
    name: 'of several open contents a replay runs the latest and leaves the others open; ignore keeps the first against all',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await record(store, saying('x', 'first'))
      await attempt(store, key('x'), succeeded)
      await record(store, saying('x', 'second'), saying('x', 'third'), saying('x', 'fourth'))
      assert.ok((await store.operate(decision('replay', 'x')))[0]?.done)
      assert.deepEqual([await bodyOf(store, 'x'), await otherBodyOf(store, 'x')], ['fourth', 'third'])
      assert.deepEqual(await openIds(store), ['x'])
      assert.ok((await store.operate(decision('ignore', 'x')))[0]?.done)
      assert.deepEqual(await openIds(store), [])
    },
  },
  {
    name: 'open conflicts are counted by source, with the oldest, and up to a limit',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      assert.deepEqual(await store.inspect.openConflicts(10), [])
      const ids = ['a', 'b', 'c']
      await record(store, ...ids.map((id) => saying(id, 'first')), saying('x', 'first', { source: 'other' }))
      await record(store, saying('a', 'second'), saying('x', 'second', { source: 'other' }))
      const oldestAt = (await get(store, key('a'))).lastConflict!.at
      await advance(60_000)
      await record(
        store,
        saying('b', 'second'),
        saying('c', 'second'),
        saying('a', 'third'),
        saying('a', 'second'),
      )
      const found = await store.inspect.openConflicts(10)
      assert.deepEqual(
        found.map(({ source, count, cut }) => [source, count, cut]),
        [
          ['other', 1, false],
          ['shop', 3, false],
        ],
      )
      assert.equal(found[1]!.oldestAt, oldestAt)
      const cut = (await store.inspect.openConflicts(2)).find(({ source }) => source === 'shop')
      assert.ok(cut?.cut && cut.count <= 2)
      await store.operate(decision('ignore', ...ids))
      assert.deepEqual(
        (await store.inspect.openConflicts(10)).map(({ source }) => source),
        ['other'],
      )
    },
  },
  {
    name: 'a conflict stays open when its bytes are removed: it cannot be run then, and the first content can be kept',
    needs: ['inspect', 'retention', 'archive'],
    async run({ open }) {
      const store = await open()
      const ids = ['again', 'erased', 'pruned']
      await record(store, ...ids.map((id) => saying(id, 'first')))
      for (const id of ids) await attempt(store, key(id), succeeded)
      await record(store, ...ids.map((id) => saying(id, 'second')))
      await store.archive.erase({ reference: 'about erased', actor: 'ada', note: '', limit: 10 })
      await store.retention.prune({ source: 'shop', payloadsBefore: Date.now() + DAY_MS, limit: 100 })
      await flush(store)
      assert.deepEqual(await openIds(store), ids)
      assert.deepEqual(
        await store.operate(decision('replay', ...ids)),
        ids.map(() => missing),
      )
      await record(store, saying('again', 'second'), saying('erased', 'second'))
      assert.deepEqual(
        [await otherBodyOf(store, 'again'), await otherBodyOf(store, 'erased')],
        ['second', null],
      )
      const [again, erased, pruned] = await Promise.all([
        store.operate(decision('replay', 'again')),
        store.operate(decision('ignore', 'erased')),
        store.operate(decision('ignore', 'pruned')),
      ])
      assert.ok([again, erased, pruned].every(([result]) => result?.done))
      // The content that the run replaced had no bytes any more. Its sender may still send it again.
      await record(store, ...ids.map((id) => saying(id, 'first')), ...ids.map((id) => saying(id, 'second')))
      assert.deepEqual(await openIds(store), [])
    },
  },
]
