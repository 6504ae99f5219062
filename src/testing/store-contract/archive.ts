/** Archive: export, receipts of archived payloads, restore and erasure. */
import assert from 'node:assert/strict'
import type { NewEvent } from '../../model.js'
import type { CompleteStore, EraseOptions, ExportOptions, PruneOptions, StoredDelivery } from '../../store.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  LONG_AFTER_MS,
  operate,
  range,
  record,
  recordEvent,
  SOURCE,
  settle,
  succeeded,
} from './support.js'

const now = () => Date.now()
const prune = (store: CompleteStore, more: Partial<PruneOptions>) =>
  store.retention.prune({ source: SOURCE, limit: 1_000, ...more })

async function exportAll(store: CompleteStore, more: Partial<ExportOptions> = {}): Promise<StoredDelivery[]> {
  const all: StoredDelivery[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page = await store.archive.export({
      source: SOURCE,
      from: 0,
      to: now() + 1_000 * DAY_MS,
      limit: 1_000,
      ...more,
      after,
    })
    assert.ok(page.next === null || page.next > after, 'a page moves on')
    all.push(...page.deliveries)
    after = page.next
  }
  return all
}

const DIGEST = '0'.repeat(64)

const idsOf = (deliveries: readonly StoredDelivery[]) =>
  deliveries.map(({ events }) => events.map((e) => e.id).join('+'))

const erase = (store: CompleteStore, reference: string, more: Partial<EraseOptions> = {}) =>
  store.archive.erase({ reference, actor: 'ada', note: 'asked to', limit: 100, ...more })

const about = (id: string, reference: string): NewEvent => event(id, { reference })

export const archiveCases: readonly ContractCase[] = [
  {
    name: 'an export returns every stored delivery once, with its bytes and all its events, in pages of any size',
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 10 * DAY_MS
      const body = bytes('["m1","m2"]\u0000\u00ff')
      await recordEvent(store, 'one', { receivedAt })
      await store.record([
        delivery([event('m1'), event('m2')], { receivedAt, body, headers: { 'x-a': 'b' } }),
      ])
      await recordEvent(store, 'two', { receivedAt: receivedAt + 1 })
      await recordEvent(store, 'other', { source: 'crm', receivedAt })
      await attempt(store, key('m2'), dead)
      for (const limit of [1, 2, 1_000]) {
        const all = await exportAll(store, { limit })
        assert.deepEqual(idsOf(all), ['one', 'm1+m2', 'two'])
        const many = all[1]!
        assert.ok(Buffer.from(body).equals(many.body))
        assert.deepEqual(many.headers, { 'x-a': 'b' })
        assert.equal(many.receivedAt, receivedAt)
        assert.deepEqual(
          many.events.map((e) => [e.part, e.state, e.contentHash]),
          [
            [0, 'pending', (await get(store, key('m1'))).contentHash],
            [1, 'failed', (await get(store, key('m2'))).contentHash],
          ],
        )
      }
      assert.deepEqual(idsOf(await exportAll(store, { from: receivedAt + 1 })), ['two'])
      assert.deepEqual(idsOf(await exportAll(store, { to: receivedAt + 1 })), ['one', 'm1+m2'])
    },
  },
  {
    name: 'an export with `unarchived` leaves out archived payloads',
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 10 * DAY_MS
      const day = new Date(receivedAt).toISOString().slice(0, 10)
      for (const id of ['a', 'b']) await recordEvent(store, id, { receivedAt })
      const seqs = (await exportAll(store)).map(({ seq }) => seq)
      await store.archive.archived([{ source: SOURCE, day, object: 1, seqs, sha256: DIGEST }])
      await recordEvent(store, 'late', { receivedAt })
      assert.deepEqual(idsOf(await exportAll(store, { unarchived: true })), ['late'])
      assert.equal((await exportAll(store)).length, 3)
    },
  },
  {
    name: 'a prune with `archivedOnly` removes archived payloads only, and no event whose payload is not archived',
    needs: ['retention', 'inspect'],
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 100 * DAY_MS
      const day = new Date(receivedAt).toISOString().slice(0, 10)
      for (const id of ['a', 'b', 'late'])
        await attempt(store, await recordEvent(store, id, { receivedAt }), succeeded)
      const stored = await exportAll(store)
      const archivedSeqs = stored.filter(({ events }) => events[0]!.id !== 'late').map(({ seq }) => seq)
      const object = { source: SOURCE, day, object: 1 }
      await store.archive.archived([{ ...object, seqs: archivedSeqs.slice(0, 1), sha256: DIGEST }])
      await store.archive.archived([{ ...object, seqs: archivedSeqs, sha256: 'f'.repeat(64) }])
      const receipts = [{ ...object, seqs: archivedSeqs, sha256: 'f'.repeat(64) }]
      assert.deepEqual(await store.archive.receipts({ source: SOURCE, day }), receipts)
      assert.deepEqual(await store.archive.receipts({ source: 'crm', day }), [])
      const dry = await prune(store, { payloadsBefore: now(), archivedOnly: true, dryRun: true })
      assert.equal(dry.payloads, 2)
      assert.equal((await prune(store, { payloadsBefore: now(), archivedOnly: true })).payloads, 2)
      assert.ok(await store.inspect.payload(key('late')))
      assert.equal((await prune(store, { eventsBefore: now(), archivedOnly: true })).events, 2)
      assert.ok(await store.inspect.payload(key('late')))
    },
  },
  {
    name: 'a payload that retention removed can be restored once, and its event can be handled again with it',
    needs: ['retention', 'inspect'],
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 70 * DAY_MS
      const body = bytes('{"n":12345678901234567890}')
      await store.record([delivery([event('m1'), event('m2')], { receivedAt, body })])
      await attempt(store, key('m1'), succeeded)
      await attempt(store, key('m2'), ignored)
      const stored = await exportAll(store)
      assert.deepEqual(await store.archive.restore(stored), [false], 'its bytes are there')
      await prune(store, { payloadsBefore: now() })
      assert.equal((await get(store, key('m1'))).payload, 'removed')
      assert.deepEqual(await store.archive.restore(stored), [true])
      assert.deepEqual(await store.archive.restore(stored), [false])
      const payload = await store.inspect.payload(key('m2'))
      assert.ok(payload && Buffer.from(body).equals(payload.body))
      assert.equal((await get(store, key('m1'))).payload, 'kept')
      assert.ok((await operate(store, 'replay', key('m1'), { force: true })).done)
      const claimed = await claimEvent(store, key('m1'))
      assert.ok(claimed.body && Buffer.from(body).equals(claimed.body))
    },
  },
  {
    name: 'a payload is not restored when its event was removed, also when its id was recorded again since',
    needs: ['retention', 'inspect'],
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 100 * DAY_MS
      await attempt(store, await recordEvent(store, 'a', { receivedAt }), succeeded)
      const stored = await exportAll(store)
      await prune(store, { eventsBefore: now() })
      assert.deepEqual(await store.archive.restore(stored), [false])
      await attempt(store, await recordEvent(store, 'a', { receivedAt: receivedAt + 1 }), succeeded)
      await prune(store, { payloadsBefore: now() })
      assert.deepEqual(await store.archive.restore(stored), [false], 'received at another time')
      const changed = stored.map((found) => ({
        ...found,
        receivedAt: receivedAt + 1,
        events: found.events.map((e) => ({ ...e, contentHash: '00'.repeat(32) })),
      }))
      assert.deepEqual(await store.archive.restore(changed), [false], 'with other content')
      assert.equal(await store.inspect.payload(key('a')), null)
    },
  },
  {
    name: 'an erasure removes the payload of every delivery with the reference, and keeps the events for deduplication',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await store.record([
        delivery(about('a', 'cus_1')),
        delivery([about('b', 'cus_1'), about('c', 'cus_2')]),
        delivery(about('d', 'cus_2')),
        delivery(about('e', 'cus_1'), { source: 'crm' }),
      ])
      await attempt(store, key('a'), failedFor(DAY_MS))
      await attempt(store, key('c'), succeeded)
      const dry = await erase(store, 'cus_1', { source: SOURCE, dryRun: true })
      assert.deepEqual(dry, { payloads: 2, events: 3, busy: 0, archived: [], more: false })
      assert.equal((await get(store, key('a'))).payload, 'kept')
      assert.deepEqual(await erase(store, 'cus_1', { source: SOURCE }), dry)
      for (const id of ['a', 'b', 'c']) {
        assert.equal(await store.inspect.payload(key(id)), null)
        assert.equal((await get(store, key(id))).payload, 'erased')
      }
      assert.ok(await store.inspect.payload(key('d')))
      assert.ok(await store.inspect.payload(key('e', 'crm')))
      const [verdict] = await record(store, delivery(about('a', 'cus_1')))
      assert.equal(verdict?.status, 'duplicate')
      assert.deepEqual(await erase(store, 'cus_1'), {
        payloads: 1,
        events: 1,
        busy: 0,
        archived: [],
        more: false,
      })
      assert.deepEqual(await erase(store, 'cus_1'), {
        payloads: 0,
        events: 0,
        busy: 0,
        archived: [],
        more: false,
      })
    },
  },
  {
    name: 'an erasure leaves a delivery with an unfinished event of another reference, until that event is finished',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const left = { payloads: 0, events: 0, busy: 1, archived: [], more: false }
      const body = bytes('["a","b","c"]')
      await store.record([delivery([about('a', 'cus_1'), about('b', 'cus_2'), event('c')], { body })])
      await attempt(store, key('a'), succeeded)
      await attempt(store, key('c'), succeeded)
      assert.deepEqual(await erase(store, 'cus_1', { dryRun: true }), left)
      assert.deepEqual(await erase(store, 'cus_1'), left, 'b waits')
      const claimed = await claimEvent(store, key('b'))
      assert.ok(claimed.body && Buffer.from(body).equals(claimed.body))
      assert.ok(await settle(store, claimed.lease, failedFor(DAY_MS)))
      assert.deepEqual(await erase(store, 'cus_1'), left, 'b has a next attempt')
      await attempt(store, key('b'), dead)
      assert.deepEqual(await erase(store, 'cus_1'), left, 'b is a dead letter')
      assert.equal((await get(store, key('a'))).payload, 'kept')
      assert.ok((await operate(store, 'retry', key('b'))).done)
      await attempt(store, key('b'), succeeded)
      assert.deepEqual(await erase(store, 'cus_1'), {
        payloads: 1,
        events: 3,
        busy: 0,
        archived: [],
        more: false,
      })
      assert.equal(await store.inspect.payload(key('a')), null)
    },
  },
  {
    name: 'an erased payload is never restored, also when retention had removed it before',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      const receivedAt = now() - 40 * DAY_MS
      for (const id of ['a', 'b']) {
        await store.record([delivery(about(id, 'cus_1'), { receivedAt })])
        await attempt(store, key(id), succeeded)
      }
      const stored = await exportAll(store)
      await prune(store, { payloadsBefore: now(), limit: 1 })
      assert.deepEqual(await erase(store, 'cus_1'), {
        payloads: 1,
        events: 2,
        busy: 0,
        archived: [],
        more: false,
      })
      assert.deepEqual(await store.archive.restore(stored), [false, false])
      assert.equal((await get(store, key('a'))).payload, 'erased')
    },
  },
  {
    name: 'an erasure skips a delivery that is being processed, and takes no more than the limit',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      for (const i of range(5)) await store.record([delivery(about(`e${i}`, 'cus_1'))])
      const claimed = await claimEvent(store, key('e0'))
      assert.deepEqual(await erase(store, 'cus_1', { limit: 3 }), {
        payloads: 3,
        events: 3,
        busy: 1,
        archived: [],
        more: true,
      })
      assert.deepEqual(await erase(store, 'cus_1', { limit: 3 }), {
        payloads: 1,
        events: 1,
        busy: 1,
        archived: [],
        more: false,
      })
      assert.ok(await store.inspect.payload(key('e0')))
      assert.equal(await settle(store, claimed.lease, failedFor(0)), true)
      await claimEvent(store, key('e0'))
      await advance(LONG_AFTER_MS + 1)
      assert.deepEqual(await erase(store, 'cus_1', { limit: 3 }), {
        payloads: 1,
        events: 1,
        busy: 0,
        archived: [],
        more: false,
      })
    },
  },
]
