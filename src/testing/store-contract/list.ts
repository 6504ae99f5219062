/** list and tail: pages that neither skip nor repeat, filters, and following the log in the order of recording. */
import assert from 'node:assert/strict'
import type { EventFilter, EventPage, EventRecord, Position } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import { fillSample, matches } from './situations.js'
import {
  attempt,
  type ContractCase,
  DAY_MS,
  delivery,
  event,
  get,
  key,
  listAll,
  openSeveral,
  range,
  record,
  recordEvent,
  rejects,
  succeeded,
} from './support.js'

const ids = (list: readonly EventRecord[]) => list.map((e) => `${e.source}/${e.id}`)

/** Every filter, each with a value that matches this event. */
function filtersOf(of: EventRecord): EventFilter[] {
  return [
    { source: of.source },
    { id: of.id },
    { type: `${of.type.slice(0, 3)}*` },
    { state: of.state },
    { dead: of.nextAttemptAt === null },
    { reason: of.reason ?? 'unhandled' },
    { reference: of.reference ?? 'order 1' },
    { from: of.receivedAt - 3 * DAY_MS, to: of.receivedAt + 1 },
    { hasDuplicates: of.deliveries > 1 },
    { hasConflict: of.lastConflict?.decidedAt === null },
    { flagged: of.sameAs !== null },
  ]
}

export const listCases: readonly ContractCase[] = [
  {
    name: 'the list is newest first, and shows each event as `get` does',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 60)
      const all = await listAll(store)
      assert.deepEqual(
        all.map((e) => e.seq),
        all.map((e) => e.seq).sort((a, b) => b - a),
      )
      for (const found of all) assert.deepEqual(found, await get(store, key(found.id, found.source)))
    },
  },
  {
    name: 'a read of an unknown event returns null or an empty list',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
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
    name: 'paging while others write neither skips nor repeats an event',
    async run({ open }) {
      const [reader, writer] = [await open(), await open()]
      await record(writer, ...range(200).map((i) => delivery(`old ${i}`)))
      let written = 0
      for (const filter of [{}, { source: 'shop' }, { type: 'order.*' }, { state: 'pending' }] as const) {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const [page]: readonly [EventPage, unknown] = await Promise.all([
            reader.list(filter, { limit: 7, cursor }),
            record(writer, ...range(5).map(() => delivery(`new ${written++}`))),
          ])
          seen.push(...ids(page.events))
          cursor = page.next
        } while (cursor !== null)
        assert.equal(new Set(seen).size, seen.length, 'no event twice')
        assert.equal(seen.filter((id) => id.startsWith('shop/old')).length, 200, 'no event skipped')
      }
    },
  },
  {
    name: 'every filter, alone and with every other, finds the same as a filter in memory',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 240)
      const all = await listAll(store)
      const middle = all.map((e) => e.receivedAt).sort((a, b) => a - b)[Math.floor(all.length / 2)]!
      const byKey: EventFilter[][] = [
        [{ source: 'shop' }, { source: 'Shop' }],
        [{ id: 'shared 3' }, { id: 'e1' }],
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
        [{ reference: 'order 1' }, { reference: 'order_1' }, { reference: 'order 1', label: 'order' }],
        [{ from: middle }],
        [{ to: middle }],
        [{ hasDuplicates: true }, { hasDuplicates: false }],
        [{ hasConflict: true }, { hasConflict: false }],
        [{ flagged: true }, { flagged: false }],
      ]
      let hits = 0
      for (const [i, filters] of byKey.entries()) {
        const others = [[{}], ...byKey.slice(i + 1)].flat()
        for (const filter of filters.flatMap((filter) => others.map((other) => ({ ...filter, ...other })))) {
          const expected = ids(all.filter((e) => matches(filter, e)))
          assert.deepEqual(ids(await listAll(store, filter)), expected, JSON.stringify(filter))
          hits += expected.length
        }
      }
      assert.ok(hits > 1_000, 'the sample is rich enough to tell')
    },
  },
  {
    name: 'many combinations of filters find the same as a filter in memory',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 60)
      const all = await listAll(store)
      let hits = 0
      // The steps go through all remainders, so each filter is in half of them.
      for (let subset = 0; subset < 2 ** filtersOf(all[0]!).length; subset += 9) {
        // Each combination is made from another event: most of them find something.
        const filters = filtersOf(all[subset % all.length]!)
        const filter: EventFilter = Object.assign(
          {},
          ...filters.filter((_, bit) => (subset >> bit) % 2 === 1),
        )
        const expected = ids(all.filter((e) => matches(filter, e)))
        assert.deepEqual(ids(await listAll(store, filter)), expected, JSON.stringify(filter))
        hits += expected.length
      }
      assert.ok(hits > 200, 'the sample is rich enough to tell')
    },
  },
  {
    name: 'three filters at once find the same with small pages',
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
      for (const i of range(4)) await recordEvent(store, `e${i}`, { receivedAt: at + i })
      assert.deepEqual(ids(await listAll(store, { from: at + 1, to: at + 3 })), ['shop/e2', 'shop/e1'])
      assert.deepEqual(ids(await listAll(store, { from: at + 3, to: at + 1 })), [])
    },
  },
  {
    name: 'a cursor that no page returned is refused',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      for (const cursor of ['nonsense', '-1', '1.5', "1' or 1=1", '99999999999999999999999', 'NaN', '1 2']) {
        await rejects(() => store.list({}, { limit: 10, cursor }), 'INVALID_INPUT')
      }
    },
  },
]

const eventIds = (events: readonly EventRecord[]) => events.map((e) => e.id)

async function follow(store: CompleteStore, after: Position = 0, limit = 500, source?: string) {
  const events: EventRecord[] = []
  for (let position = after; ; ) {
    const page = await store.tail({ after: position, limit, ...(source !== undefined && { source }) })
    assert.ok(page.events.length <= limit, 'a page is no longer than asked')
    assert.ok(page.position >= position, 'a position never goes back')
    events.push(...page.events)
    if (page.position === position) return { events, position }
    position = page.position
  }
}

export const tailCases: readonly ContractCase[] = [
  {
    name: 'the tail is the log from its beginning, oldest first, in pages of every size',
    async run(harness) {
      const store = await harness.open()
      assert.deepEqual(await store.tail({ after: 0, limit: 10 }), { events: [], position: 0, gap: false })
      await fillSample(store, harness, 60)
      const all = (await listAll(store)).reverse()
      for (const limit of [1, 7, all.length, 500]) {
        assert.deepEqual((await follow(store, 0, limit)).events, all)
      }
    },
  },
  {
    name: 'a reader that continues from a position gets the later events, and none twice',
    async run({ open }) {
      const [writer, reader] = [await open(), await open()]
      await record(writer, ...range(5).map((i) => delivery(`old ${i}`)))
      const { position } = await follow(reader)
      assert.deepEqual(await reader.tail({ after: position, limit: 10 }), {
        events: [],
        position,
        gap: false,
      })
      await record(writer, delivery('old 1'), delivery('new 1'), delivery('new 2'))
      await attempt(writer, key('old 2'), succeeded)
      const page = await reader.tail({ after: position, limit: 10 })
      assert.deepEqual(
        eventIds(page.events),
        ['new 1', 'new 2'],
        'a duplicate and an outcome are no new events',
      )
      assert.deepEqual(page.events[0], await get(reader, key('new 1')))
      assert.equal(page.gap, false)
    },
  },
  {
    name: 'the events of one delivery come in their order, also with pages of one event',
    async run({ open }) {
      const store = await open()
      await store.record([delivery([event('b'), event('a'), event('c')]), delivery('d')])
      assert.deepEqual(eventIds((await follow(store, 0, 1)).events), ['b', 'a', 'c', 'd'])
    },
  },
  {
    name: 'the tail of one source has its events only, and its position skips the others',
    async run({ open }) {
      const store = await open()
      for (const i of range(30)) await recordEvent(store, `e${i}`, { source: i % 3 === 0 ? 'crm' : 'shop' })
      const crm = range(10).map((i) => `e${3 * i}`)
      for (const limit of [1, 4, 10, 500]) {
        const { events, position } = await follow(store, 0, limit, 'crm')
        assert.deepEqual(eventIds(events), crm)
        assert.deepEqual(eventIds((await store.tail({ after: position, limit: 10 })).events), [])
      }
      const { position } = await store.tail({ after: 0, limit: 10, source: 'nobody' })
      await recordEvent(store, 'late', { source: 'nobody' })
      assert.deepEqual(eventIds((await store.tail({ after: position, limit: 10 })).events), ['late'])
    },
  },
  {
    name: 'a reader that follows many writers gets every event once, in the same order as every other reader',
    async run(harness) {
      const [reader, other, ...writers] = await openSeveral(harness, 5)
      let writing = true
      const writes = writers.map(async (writer, w) => {
        for (const i of range(30)) {
          // All batches contain one common event, so that the second writer waits for the first and commits late.
          const own = range(1 + (i % 7)).map((n) => delivery(`own ${w} ${i} ${n}`))
          await writer.record([...own, delivery(`shared ${i}`)])
        }
      })
      const done = Promise.all(writes).finally(() => {
        writing = false
      })
      const seen: EventRecord[] = []
      for (let position = 0, last = false; ; ) {
        const page = await reader!.tail({ after: position, limit: 20 })
        seen.push(...page.events)
        if (last && page.position === position) break
        position = page.position
        last = !writing
      }
      await done
      const order = eventIds(seen)
      assert.equal(new Set(order).size, order.length, 'none twice')
      assert.deepEqual([...order].sort(), eventIds(await listAll(reader!)).sort(), 'none missed')
      assert.deepEqual(
        eventIds((await follow(other!, 0, 500)).events),
        order,
        'the order is the same for all',
      )
    },
  },
  {
    name: 'a reader behind the removed events gets `gap: true`; a reader that starts at 0 or is ahead of them does not',
    needs: ['retention'],
    async run({ open }) {
      const [store, reader] = [await open(), await open()]
      const receivedAt = Date.now() - 100 * DAY_MS
      for (const id of ['a', 'b', 'c']) {
        await recordEvent(store, id, { receivedAt })
        await attempt(store, key(id), succeeded)
      }
      await recordEvent(store, 'kept')
      const start = await reader.tail({ after: 0, limit: 1 })
      const ahead = await reader.tail({ after: 0, limit: 3 })
      const prune = { source: 'shop', eventsBefore: Date.now() - DAY_MS, limit: 100 }
      await store.retention.prune({ ...prune, dryRun: true })
      assert.equal(
        (await reader.tail({ after: start.position, limit: 10 })).gap,
        false,
        'nothing is gone yet',
      )
      assert.equal((await store.retention.prune(prune)).events, 3)
      for (const [after, gap] of [
        [0, false],
        [start.position, true],
        [ahead.position, false],
      ] as const) {
        const page = await reader.tail({ after, limit: 10 })
        assert.deepEqual([eventIds(page.events), page.gap], [['kept'], gap])
        assert.equal((await reader.tail({ after: page.position, limit: 10 })).gap, false, 'it is told once')
      }
    },
  },
  {
    name: 'a position beyond the log returns no events until the log has passed it',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'a')
      const after = (await follow(store)).position + 1
      assert.deepEqual(await store.tail({ after, limit: 10 }), { events: [], position: after, gap: false })
    },
  },
  {
    name: 'a bad position, limit or source of a tail is INVALID_INPUT',
    async run({ open }) {
      const store = await open()
      for (const after of [-1, 0.5, Number.NaN, 2 ** 53]) {
        await rejects(() => store.tail({ after, limit: 1 }), 'INVALID_INPUT')
      }
      for (const limit of [0, 1.5, 501]) await rejects(() => store.tail({ after: 0, limit }), 'INVALID_INPUT')
      await rejects(() => store.tail({ after: 0, limit: 1, source: '' }), 'INVALID_INPUT')
    },
  },
]
