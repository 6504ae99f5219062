/** Tombstones: the trace of an event that was removed after its horizon, where tombstones are enabled. */
import assert from 'node:assert/strict'
import { contestedId, type NewDelivery } from '../../model.js'
import type { CompleteStore, PruneOptions } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claim,
  DAY_MS,
  delivery,
  event,
  get,
  key,
  listAll,
  record,
  SOURCE,
  sha256,
  succeeded,
} from './support.js'

const old = () => Date.now() - 100 * DAY_MS

/** A delivery of `id` whose id is signed with its content. */
function named(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  const own = event(id, { contentHash: sha256(content) })
  return delivery(own, { body: bytes(content), receivedAt: old(), ...more })
}

/** A delivery whose signature covers its content but not its id. */
function signed(id: string, content: string, more: Partial<NewDelivery> = {}): NewDelivery {
  const own = event(id, { contentHash: sha256(content), guardHash: sha256(content) })
  return delivery(own, { body: bytes(content), receivedAt: old(), onReplayedContent: 'flag', ...more })
}

/** Handles all events, then removes the old ones. */
async function finishAndPrune(store: CompleteStore, more: Partial<PruneOptions> = {}): Promise<void> {
  for (const { source, eventId, state } of await listAll(store))
    if (state === 'pending') await attempt(store, { source, eventId }, succeeded)
  const eventsBefore = Date.now() - 90 * DAY_MS
  while (
    (await store.retention.prune({ source: SOURCE, eventsBefore, tombstones: true, limit: 500, ...more }))
      .more
  );
}

export const tombstoneCases: readonly ContractCase[] = [
  {
    name: 'a removed event leaves a tombstone: its delivery is retired, and nothing is written',
    async run({ open }) {
      const store = await open()
      await record(store, named('a', 'one'), signed('b', 'two'))
      await finishAndPrune(store)
      assert.deepEqual(await listAll(store), [])
      for (const _ of [1, 2])
        assert.deepEqual(await record(store, named('a', 'one'), signed('b', 'two')), [
          { status: 'retired' },
          { status: 'retired' },
        ])
      assert.deepEqual(await listAll(store), [])
      assert.deepEqual(await claim(store), [])
      assert.deepEqual(await store.stats(), [])
    },
  },
  {
    name: 'a tombstone does not block new events: other content under its id, its content under another id, other sources',
    async run({ open }) {
      const store = await open()
      await record(store, named('a', 'one'), signed('b', 'two'), delivery(event('c', { contentHash: null })))
      await finishAndPrune(store)
      const verdicts = await record(
        store,
        named('a', 'other'),
        named('a2', 'one'),
        signed('b', 'other too'),
        named('a', 'one', { source: 'elsewhere' }),
        signed('b', 'two', { source: 'elsewhere' }),
        delivery(event('d', { contentHash: null })),
      )
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'recorded' ? [v.state, v.sameAs] : v.status)),
        verdicts.map(() => ['pending', undefined]),
      )
    },
  },
  {
    name: 'signed content of a removed event is still flagged under another id, and withheld where the policy says so',
    async run({ open }) {
      const store = await open()
      await record(store, signed('b', 'two'))
      await finishAndPrune(store)
      const verdicts = await record(
        store,
        signed('b2', 'two'),
        signed('b3', 'two', { onReplayedContent: 'review' }),
        signed('b4', 'two', { onReplayedContent: 'reject' }),
      )
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'recorded' ? [v.state, v.sameAs] : v.status)),
        [['pending', 'b'], ['ignored', 'b'], 'replayed'],
      )
      assert.equal((await get(store, key('b2'))).sameAs, 'b')
    },
  },
  {
    name: 'flagged events and events with a contested id leave tombstones too',
    async run({ open }) {
      const store = await open()
      const all = [signed('a', 'captured'), signed('x', 'captured'), signed('x', 'real')]
      const stored = (await record(store, ...all)).map((v) => 'storedAs' in v && v.storedAs)
      assert.deepEqual(stored, [false, false, contestedId(all[2]!.events[0]!)])
      await finishAndPrune(store)
      assert.deepEqual(
        (await record(store, ...all)).map((v) => v.status),
        ['retired', 'retired', 'retired'],
      )
    },
  },
  {
    name: 'a tombstone matches only its own content inside one batch',
    async run({ open }) {
      const store = await open()
      await record(store, named('a', 'one'))
      await finishAndPrune(store)
      const verdicts = await record(
        store,
        named('a', 'one'),
        named('a', 'two'),
        named('a', 'one'),
        named('a', 'two'),
      )
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ['retired', 'recorded', 'duplicate', 'duplicate'].map((status, i) =>
          i === 2 && verdicts[2]?.status === 'retired' ? 'retired' : status,
        ),
        'the third may meet the tombstone or the new row',
      )
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'a tombstone is removed at its age limit, and the event is new again',
    async run({ open }) {
      const store = await open()
      await record(store, named('a', 'one'), signed('b', 'two'), signed('c', 'two'))
      await finishAndPrune(store)
      const prune = (tombstonesBefore: number) =>
        store.retention.prune({ source: SOURCE, tombstonesBefore, limit: 500 })
      await prune(Date.now() - DAY_MS)
      assert.deepEqual(
        (await record(store, named('a', 'one'), signed('b', 'two'), signed('c', 'two'))).map((v) => v.status),
        ['retired', 'retired', 'retired'],
        'not yet',
      )
      await prune(Date.now() + DAY_MS)
      const verdicts = await record(store, named('a', 'one'), signed('b', 'two'), signed('c', 'two'))
      assert.deepEqual(
        verdicts.map((v) => v.status === 'recorded' && v.sameAs),
        [undefined, undefined, 'b'],
      )
    },
  },
]
