/** The log as people read it: pages that neither skip nor repeat, and filters that mean what they say. */
import assert from 'node:assert/strict'
import type { EventFilter, EventRecord } from '../../model.js'
import type { ContractCase } from './harness.js'
import { fillSample, matches } from './sample.js'
import { DAY_MS, delivery, get, key, listAll, range, record, recordOne, rejects } from './support.js'

const ids = (list: readonly EventRecord[]) => list.map((e) => `${e.source}/${e.eventId}`)

/** Every filter there is, each with what it would be for this event. */
function partsOf(of: EventRecord): EventFilter[] {
  return [
    { source: of.source },
    { eventId: of.eventId },
    { type: `${of.eventType.slice(0, 3)}*` },
    { state: of.state },
    { dead: of.nextAttemptAt === null },
    { reason: of.reason ?? 'unhandled' },
    { reference: of.reference ?? 'order 1' },
    { from: of.receivedAt - 3 * DAY_MS, to: of.receivedAt + 1 },
    { hasDuplicates: of.deliveries > 1 },
    { hasConflict: of.conflicts > 0 },
    { flagged: (of.sameAs ?? of.contests) !== null },
  ]
}

export const listCases: readonly ContractCase[] = [
  {
    name: 'the list is newest first, and what it shows of an event is what `get` shows',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 60)
      const all = await listAll(store)
      assert.deepEqual(
        all.map((e) => e.seq),
        all.map((e) => e.seq).sort((a, b) => b - a),
      )
      for (const one of all) assert.deepEqual(one, await get(store, key(one.eventId, one.source)))
    },
  },
  {
    name: 'an event that is not there is null everywhere',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      for (const of of [key('missing'), key('evt', 'missing')]) {
        assert.equal(await store.get(of), null)
        assert.equal(await store.inspect.payload(of), null)
        assert.deepEqual(await store.inspect.attempts(of), [])
      }
      assert.deepEqual(await listAll(store, { source: 'missing' }), [])
    },
  },
  {
    name: 'pages of every size join to the whole',
    async run({ open }) {
      const store = await open()
      await record(store, ...range(23).map((i) => delivery(`e${i}`)))
      const all = ids(await listAll(store))
      assert.equal(all.length, 23)
      for (const limit of [1, 2, 5, 22, 23, 24, 500])
        assert.deepEqual(ids(await listAll(store, {}, limit)), all)
      const first = await store.list({})
      assert.ok(first.events.length > 0, 'a page has a size of its own when none is asked for')
    },
  },
  {
    name: 'paging while others write neither skips nor repeats',
    async run({ open }) {
      const [reader, writer] = [await open(), await open()]
      await record(writer, ...range(200).map((i) => delivery(`old ${i}`)))
      let writing = true
      let written = 0
      const writes = (async () => {
        while (writing) await record(writer, ...range(5).map(() => delivery(`new ${written++}`)))
      })()
      try {
        for (const filter of [{}, { source: 'shop' }, { type: 'order.*' }, { state: 'pending' }] as const) {
          const seen = ids(await listAll(reader, filter, 7))
          assert.equal(new Set(seen).size, seen.length, 'no event twice')
          assert.equal(seen.filter((id) => id.startsWith('shop/old')).length, 200, 'no event skipped')
        }
      } finally {
        writing = false
        await writes
      }
    },
  },
  {
    name: 'every filter, alone and with every other, finds what a plain look through the log finds',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 240)
      const all = await listAll(store)
      const middle = all.map((e) => e.receivedAt).sort((a, b) => a - b)[Math.floor(all.length / 2)]!
      const byKey: EventFilter[][] = [
        [{ source: 'shop' }, { source: 'Shop' }],
        [{ eventId: 'shared 3' }, { eventId: 'e1' }],
        [
          { type: 'invoice.paid' },
          { type: 'invoice.*' },
          { type: '*' },
          { type: '*paid' },
          { type: 'i*ice*p*d' },
          { type: 'invoice_*' },
          { type: '*%*' },
          { type: 'customer[1]' },
          { type: 'customer?' },
          { type: 'c*?' },
        ],
        [
          { state: 'pending' },
          { state: 'processing' },
          { state: 'succeeded' },
          { state: 'ignored' },
          { state: 'failed' },
          { state: 'failed', dead: true },
          { state: 'failed', dead: false },
        ],
        [
          { reason: 'unhandled' },
          { reason: 'replayed_content' },
          { reason: 'not for us' },
          { reason: 'out of tries' },
          { reason: 'operator' },
        ],
        [{ reference: 'order 1' }, { reference: 'order_1' }],
        [{ from: middle }],
        [{ to: middle }],
        [{ hasDuplicates: true }, { hasDuplicates: false }],
        [{ hasConflict: true }, { hasConflict: false }],
        [{ flagged: true }, { flagged: false }],
      ]
      let hits = 0
      for (const [i, ones] of byKey.entries()) {
        const others = [[{}], ...byKey.slice(i + 1)].flat()
        for (const filter of ones.flatMap((one) => others.map((other) => ({ ...one, ...other })))) {
          const expected = ids(all.filter((e) => matches(filter, e)))
          assert.deepEqual(ids(await listAll(store, filter)), expected, JSON.stringify(filter))
          hits += expected.length
        }
      }
      assert.ok(hits > 1_000, 'the sample is rich enough to tell')
    },
  },
  {
    name: 'every combination of filters finds what a plain look through the log finds',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 60)
      const all = await listAll(store)
      let hits = 0
      for (const subset of range(2 ** partsOf(all[0]!).length)) {
        // Each combination speaks of another event, so that most of them find something.
        const parts = partsOf(all[subset % all.length]!)
        const filter: EventFilter = Object.assign({}, ...parts.filter((_, bit) => (subset >> bit) % 2 === 1))
        const expected = ids(all.filter((e) => matches(filter, e)))
        assert.deepEqual(ids(await listAll(store, filter)), expected, JSON.stringify(filter))
        hits += expected.length
      }
      assert.ok(hits > 2_000, 'the sample is rich enough to tell')
    },
  },
  {
    name: 'three filters at once, with small pages',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 120)
      const all = await listAll(store)
      for (const filter of [
        { source: 'shop', type: 'invoice*', state: 'succeeded' },
        { source: 'shop', state: 'pending', hasDuplicates: true },
        { type: '*paid*', state: 'failed', dead: true, from: 0 },
        { source: 'crm_1', reason: 'not for us', to: Date.now() },
        { reference: 'order 1', state: 'ignored', type: '*' },
      ] as const) {
        const expected = ids(all.filter((e) => matches(filter, e)))
        assert.deepEqual(ids(await listAll(store, filter, 2)), expected, JSON.stringify(filter))
      }
    },
  },
  {
    name: 'a time range includes its beginning and not its end',
    async run({ open }) {
      const store = await open()
      const at = Date.now() - 5_000
      for (const i of range(4)) await recordOne(store, `e${i}`, { receivedAt: at + i })
      assert.deepEqual(ids(await listAll(store, { from: at + 1, to: at + 3 })), ['shop/e2', 'shop/e1'])
      assert.deepEqual(ids(await listAll(store, { from: at + 3, to: at + 1 })), [])
    },
  },
  {
    name: 'a cursor that no page gave is refused',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'evt')
      for (const cursor of ['nonsense', '-1', '1.5', "1' or 1=1", '99999999999999999999999', 'NaN', '1 2']) {
        await rejects(() => store.list({}, { limit: 10, cursor }), 'INVALID_INPUT')
      }
    },
  },
]
