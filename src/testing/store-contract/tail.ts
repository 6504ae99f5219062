/** Following the log: every event once, in one order, whoever writes meanwhile. */
import assert from 'node:assert/strict'
import type { EventRecord, Position } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import type { ContractCase } from './harness.js'
import { fillSample } from './sample.js'
import {
  attempt,
  DAY_MS,
  delivery,
  event,
  get,
  key,
  listAll,
  openSeveral,
  range,
  record,
  recordOne,
  rejects,
  succeeded,
} from './support.js'

const ids = (events: readonly EventRecord[]) => events.map((e) => e.eventId)

/** Follows from `after` until a page says nothing new. */
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
    name: 'whoever goes on from a position gets what came after it, and nothing twice',
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
      assert.deepEqual(ids(page.events), ['new 1', 'new 2'], 'a duplicate and an outcome are no new events')
      assert.deepEqual(page.events[0], await get(reader, key('new 1')))
      assert.equal(page.gap, false)
    },
  },
  {
    name: 'the events of one delivery come in their order, one by one',
    async run({ open }) {
      const store = await open()
      await store.record([delivery([event('b'), event('a'), event('c')]), delivery('d')])
      assert.deepEqual(ids((await follow(store, 0, 1)).events), ['b', 'a', 'c', 'd'])
    },
  },
  {
    name: 'the tail of one source has its events only, and its position passes over the others',
    async run({ open }) {
      const store = await open()
      for (const i of range(30)) await recordOne(store, `e${i}`, { source: i % 3 === 0 ? 'crm' : 'shop' })
      const crm = range(10).map((i) => `e${3 * i}`)
      for (const limit of [1, 4, 10, 500]) {
        const { events, position } = await follow(store, 0, limit, 'crm')
        assert.deepEqual(ids(events), crm)
        assert.deepEqual(ids((await store.tail({ after: position, limit: 10 })).events), [])
      }
      const { position } = await store.tail({ after: 0, limit: 10, source: 'nobody' })
      await recordOne(store, 'late', { source: 'nobody' })
      assert.deepEqual(ids((await store.tail({ after: position, limit: 10 })).events), ['late'])
    },
  },
  {
    name: 'a reader that follows many writers gets every event once, and each reader in the same order',
    async run(harness) {
      const [reader, other, ...writers] = await openSeveral(harness, 5)
      let writing = true
      const writes = writers.map(async (writer, w) => {
        for (const i of range(30)) {
          // Each batch has something all of them write: who comes second waits for the first, and commits late.
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
      const order = ids(seen)
      assert.equal(new Set(order).size, order.length, 'none twice')
      assert.deepEqual([...order].sort(), ids(await listAll(reader!)).sort(), 'none missed')
      assert.deepEqual(ids((await follow(other!, 0, 500)).events), order, 'the order is the same for all')
    },
  },
  {
    name: 'a reader that retention has overtaken is told of the gap; who starts anew or is ahead of it is not',
    needs: ['retention'],
    async run({ open }) {
      const [store, reader] = [await open(), await open()]
      const receivedAt = Date.now() - 100 * DAY_MS
      for (const id of ['a', 'b', 'c']) {
        await recordOne(store, id, { receivedAt })
        await attempt(store, key(id), succeeded)
      }
      await recordOne(store, 'kept')
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
        assert.deepEqual([ids(page.events), page.gap], [['kept'], gap])
        assert.equal((await reader.tail({ after: page.position, limit: 10 })).gap, false, 'it is told once')
      }
    },
  },
  {
    name: 'a position beyond the log waits for the log to get there',
    async run({ open }) {
      const store = await open()
      await recordOne(store, 'a')
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
