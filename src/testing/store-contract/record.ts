/** Recording: one row per event, for any number of writers and deliveries. */
import assert from 'node:assert/strict'
import {
  bytes,
  type ContractCase,
  chunks,
  DAY_MS,
  delivery,
  event,
  flush,
  get,
  key,
  listAll,
  openSeveral,
  random,
  range,
  record,
  recordEvent,
  SOURCE,
  sha256,
  shuffled,
} from './support.js'

export const recordCases: readonly ContractCase[] = [
  {
    name: 'a first delivery is recorded as a pending event',
    async run({ open }) {
      const store = await open()
      const [verdict] = await record(
        store,
        delivery(event('evt_1', { type: 'invoice.paid', reference: 'order 7' })),
      )
      assert.equal(verdict?.status, 'recorded')
      assert.equal(verdict.state, 'pending')
      const found = await get(store, key('evt_1'))
      assert.equal(found.seq, verdict.seq)
      assert.equal(found.source, SOURCE)
      assert.equal(found.id, 'evt_1')
      assert.equal(found.type, 'invoice.paid')
      assert.equal(found.reference, 'order 7')
      assert.equal(found.state, 'pending')
      assert.equal(found.reason, null)
      assert.equal(found.processedAt, null)
      assert.equal(found.attempts, 0)
      assert.equal(found.run, 1)
      assert.equal(found.deliveries, 1)
      assert.equal(found.conflicts, 0)
      assert.equal(found.lastConflict, null)
      assert.equal(found.lastDeliveryAt, found.receivedAt)
      assert.equal(found.contentHash, Buffer.from(sha256('evt_1')).toString('hex'))
      assert.equal(found.payload, 'kept')
    },
  },
  {
    name: 'recording an empty list returns an empty list',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.record([]), [])
      assert.deepEqual(await listAll(store), [])
    },
  },
  {
    name: 'a second delivery of the same event is a duplicate and returns the state of the event',
    async run({ open }) {
      const store = await open()
      const [first] = await record(store, delivery('a'))
      const [second] = await record(store, delivery('a'))
      assert.equal(first?.status, 'recorded')
      assert.deepEqual(second, {
        status: 'duplicate',
        seq: first.seq,
        state: 'pending',
        final: false,
        equal: true,
      })
      assert.equal((await listAll(store)).length, 1)
    },
  },
  {
    name: 'duplicates inside one batch are detected, and the first of them is recorded',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'old')
      const verdicts = await record(store, ...['a', 'old', 'a', 'b', 'a', 'b'].map((id) => delivery(id)))
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ['recorded', 'duplicate', 'duplicate', 'recorded', 'duplicate', 'duplicate'],
      )
      assert.deepEqual(
        verdicts.flatMap((v) => (v.status === 'duplicate' ? [v.equal] : [])),
        [true, true, true, true],
      )
      await flush(store)
      assert.deepEqual(
        (await listAll(store)).map((e) => [e.id, e.deliveries]),
        [
          ['b', 2],
          ['a', 3],
          ['old', 2],
        ],
      )
    },
  },
  {
    name: 'an event named twice in one delivery is recorded once',
    async run({ open }) {
      const store = await open()
      const verdicts = await store.record([delivery([event('a'), event('b'), event('a')])])
      assert.deepEqual(
        verdicts[0]?.map((v) => v.status),
        ['recorded', 'recorded', 'duplicate'],
      )
      assert.equal((await listAll(store)).length, 2)
    },
  },
  {
    name: 'a bad delivery in a batch is refused and its neighbours are recorded',
    async run({ open }) {
      const store = await open()
      const [first, bad, last] = await record(store, delivery('good 1'), delivery(''), delivery('good 2'))
      assert.equal(first?.status, 'recorded')
      assert.equal(bad?.status, 'refused')
      assert.equal(bad.code, 'INVALID_INPUT')
      assert.equal(last?.status, 'recorded')
      assert.deepEqual(
        (await listAll(store)).map((e) => e.id),
        ['good 2', 'good 1'],
      )
    },
  },
  {
    name: 'a delivery with one bad event is refused as a whole',
    async run({ open }) {
      const store = await open()
      const verdicts = await store.record([
        delivery([event('a'), event('b\0'), event('c')]),
        delivery([event('d'), event('a')]),
      ])
      assert.deepEqual(
        verdicts.map((list) => list.map((v) => v.status)),
        [
          ['refused', 'refused', 'refused'],
          ['recorded', 'recorded'],
        ],
      )
      assert.deepEqual((await listAll(store)).map((e) => e.id).sort(), ['a', 'd'])
    },
  },
  {
    name: 'the key is two values: ("ab","c") and ("a","bc") are two events',
    async run({ open }) {
      const store = await open()
      const verdicts = await record(
        store,
        delivery('c', { source: 'ab' }),
        delivery('bc', { source: 'a' }),
        delivery('a:b', { source: 'x' }),
        delivery('b', { source: 'x:a' }),
      )
      assert.deepEqual(
        verdicts.map((v) => v.status),
        range(4).map(() => 'recorded'),
      )
      assert.equal((await listAll(store)).length, 4)
    },
  },
  {
    name: 'the same id in two sources is two events',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const verdicts = await record(
        store,
        delivery('evt_1', { source: 'one', body: bytes('first') }),
        delivery('evt_1', { source: 'two', body: bytes('second') }),
      )
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ['recorded', 'recorded'],
      )
      const [one, two] = await Promise.all([
        store.inspect.payload(key('evt_1', 'one')),
        store.inspect.payload(key('evt_1', 'two')),
      ])
      assert.deepEqual(
        [one, two].map((payload) => Buffer.from(payload?.body ?? []).toString()),
        ['first', 'second'],
      )
    },
  },
  {
    name: 'ids are compared byte by byte, including case, accents, spaces and wildcards',
    async run({ open }) {
      const store = await open()
      const ids = ['evt', 'EVT', 'evt ', ' evt', 'é', 'e\u0301', 'ß', 'ss', 'i', 'ı', '%', '_', '*', '?', "'"]
      const verdicts = await record(store, ...ids.map((id) => delivery(id)))
      assert.deepEqual(
        verdicts.map((v) => v.status),
        ids.map(() => 'recorded'),
      )
      for (const id of ids) assert.equal((await get(store, key(id))).id, id)
    },
  },
  {
    name: 'an id, a type, a reference and a source of the largest length come back whole',
    async run({ open }) {
      const store = await open()
      const source = 's'.repeat(64)
      const longest = `${'é'.repeat(127)}x`
      const [verdict] = await record(
        store,
        delivery(event(longest, { type: longest, reference: longest }), { source }),
      )
      assert.equal(verdict?.status, 'recorded')
      const found = await get(store, key(longest, source))
      assert.deepEqual([found.id, found.type, found.reference], [longest, longest, longest])
    },
  },
  {
    name: 'a delivery that arrived earlier keeps its own time of arrival, however old',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const now = Date.now()
      const instants = [0, 981_173_106_789, now - 400 * DAY_MS, now - 40 * DAY_MS, now - 1, now + DAY_MS]
      const verdicts = await record(
        store,
        ...instants.map((receivedAt, i) => delivery(`e${i}`, { receivedAt })),
      )
      assert.deepEqual(
        verdicts.map((v) => v.status),
        instants.map(() => 'recorded'),
      )
      for (const [i, receivedAt] of instants.entries()) {
        assert.equal((await get(store, key(`e${i}`))).receivedAt, receivedAt)
        assert.equal((await store.inspect.payload(key(`e${i}`)))?.receivedAt, receivedAt)
      }
    },
  },
  {
    name: 'a full batch is recorded in one call, its verdicts in order',
    async run({ open }) {
      const store = await open()
      const ids = shuffled(
        random(7),
        range(1_000).map((i) => `e${i}`),
      )
      const verdicts = await record(store, ...ids.map((id) => delivery(id)))
      const bySeq = new Map((await listAll(store)).map((e) => [e.seq, e.id]))
      assert.equal(bySeq.size, 1_000)
      assert.deepEqual(
        verdicts.map((v) => (v.status === 'recorded' ? bySeq.get(v.seq) : v.status)),
        ids,
      )
    },
  },
  {
    name: '64 concurrent writers of the same 500 events leave 500 rows, and one writer gets "recorded" for each event',
    async run(harness) {
      const stores = await openSeveral(harness, 4)
      const ids = range(500).map((i) => `e${i}`)
      const recorded = new Map<string, number>()
      const seqs = new Map<string, Set<number>>()
      await Promise.all(
        range(64).map(async (writer) => {
          const store = stores[writer % stores.length]!
          // Each writer uses another order: batches that lock rows in the order given would deadlock.
          for (const batch of chunks(shuffled(random(writer), ids), 50)) {
            const verdicts = await record(store, ...batch.map((id) => delivery(id)))
            for (const [i, verdict] of verdicts.entries()) {
              const id = batch[i]!
              assert.ok(verdict.status === 'recorded' || verdict.status === 'duplicate', verdict.status)
              if (verdict.status === 'recorded') recorded.set(id, (recorded.get(id) ?? 0) + 1)
              else assert.equal(verdict.equal, true)
              seqs.set(id, (seqs.get(id) ?? new Set()).add(verdict.seq))
            }
          }
        }),
      )
      for (const store of stores) await flush(store)
      const rows = await listAll(stores[0]!)
      assert.equal(rows.length, 500)
      for (const row of rows) {
        assert.equal(recorded.get(row.id), 1, `${row.id} was recorded by exactly one writer`)
        assert.deepEqual([...(seqs.get(row.id) ?? [])], [row.seq])
        assert.equal(row.deliveries, 64, 'each duplicate is counted')
      }
    },
  },
]
