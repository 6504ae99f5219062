/** Invalid input: every such call is INVALID_INPUT and writes nothing. */
import assert from 'node:assert/strict'
import type { Action, ClaimOptions, EventFilter, NewDelivery, Outcome, State } from '../../model.js'
import type { EffectStep } from '../../store.js'
import {
  type ContractCase,
  changesNothing,
  claim,
  claimEvent,
  delivery,
  event,
  failedFor,
  key,
  LEASE_MS,
  listAll,
  range,
  record,
  recordEvent,
  rejects,
  SOURCE,
  settlement,
  succeeded,
} from './support.js'

const tooLong = 'é'.repeat(128)
const badTexts = ['', tooLong, 'a\0b', 'a\u001bb', 'a\nb', '\ud800', 'a\udc00b']
const badHash = new Uint8Array(31)

const badDeliveries: readonly NewDelivery[] = [
  ...badTexts.map((text) => delivery(text)),
  ...badTexts.map((text) => delivery(event('x', { type: text }))),
  ...badTexts.map((text) => delivery(event('x', { reference: text }))),
  ...badTexts.map((text) => delivery(event('x', { lane: text }))),
  ...[...badTexts, 's'.repeat(65)].map((source) => delivery('x', { source })),
  delivery(event('x', { contentHash: badHash })),
  delivery(event('x', { guardHash: badHash })),
  ...[Number.NaN, -1, Number.POSITIVE_INFINITY].map((receivedAt) => delivery('x', { receivedAt })),
  delivery({ ...event('x'), id: 7 as unknown as string }),
]

const badCounts = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]

const badClaims: readonly Partial<ClaimOptions>[] = [
  ...badCounts.map((limit) => ({ limit })),
  { limit: 1_001 },
  ...[...badCounts, 86_400_001].map((leaseMs) => ({ leaseMs })),
  ...['', 'w\0'].map((worker) => ({ worker })),
  ...badTexts.map((eventId) => ({ event: key(eventId) })),
  ...badTexts.map((source) => ({ sources: [source] })),
]

const badOutcomes: readonly Outcome[] = [
  { kind: 'pending' } as unknown as Outcome,
  { kind: 'ignored', reason: '' },
  { kind: 'ignored', reason: 'x'.repeat(1_001) },
  { kind: 'failed', error: 'a\0b', retryInMs: null },
  { kind: 'failed', error: '\ud800', retryInMs: null },
  { kind: 'failed', error: 'x'.repeat(8_193), retryInMs: null },
  { kind: 'failed', error: 'x', retryInMs: -1 },
  { kind: 'failed', error: 'x', retryInMs: Number.NaN },
  { kind: 'failed', error: 'x', retryInMs: 1e15 },
]

const badActions: readonly Partial<Action>[] = [
  { verb: 'delete' as unknown as Action['verb'] },
  { actor: '' },
  { actor: 'a\0' },
  { note: 'a\0' },
  { note: 'x'.repeat(1_001) },
  { events: range(1_001).map((i) => key(`e${i}`)) },
  { events: [key('evt'), key('')] },
]

const badFilters: readonly EventFilter[] = [
  { state: 'done' as unknown as State },
  { from: Number.NaN },
  { to: -1 },
]

const of = key('evt')

export const inputCases: readonly ContractCase[] = [
  {
    name: 'a bad delivery is refused with INVALID_INPUT and writes nothing',
    async run({ open }) {
      const store = await open()
      for (const bad of badDeliveries) {
        const [verdicts] = await store.record([bad])
        assert.deepEqual(
          verdicts?.map((v) => (v.status === 'refused' ? v.code : v.status)),
          ['INVALID_INPUT'],
          JSON.stringify(bad.events),
        )
      }
      const all = await record(store, ...badDeliveries, delivery('good'))
      assert.deepEqual(
        all.map((v) => v.status),
        [...badDeliveries.map(() => 'refused'), 'recorded'],
      )
      assert.deepEqual(await store.record([delivery([])]), [[]], 'a delivery of no event has no verdict')
      assert.deepEqual(
        (await listAll(store)).map((e) => e.id),
        ['good'],
      )
      assert.equal((await store.stats())[0]?.recorded, 1)
    },
  },
  {
    name: 'a bad claim is INVALID_INPUT and takes nothing',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await changesNothing(store, of, async () => {
        for (const bad of badClaims) await rejects(() => claim(store, bad), 'INVALID_INPUT')
      })
    },
  },
  {
    name: 'a bad settlement is INVALID_INPUT, and its neighbours in the batch are not written either',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await recordEvent(store, 'other')
      const [mine, theirs] = [await claimEvent(store, of), await claimEvent(store, key('other'))]
      const good = settlement(theirs.lease, succeeded)
      const bad = [
        ...badOutcomes.map((outcome) => settlement(mine.lease, outcome)),
        { ...settlement(mine.lease, succeeded), durationMs: -1 },
        { ...settlement(mine.lease, succeeded), durationMs: Number.NaN },
      ]
      await changesNothing(store, of, () =>
        changesNothing(store, key('other'), async () => {
          for (const invalid of bad) {
            await rejects(() => store.settle([good, invalid]), 'INVALID_INPUT')
            const transaction = await store.transaction()
            await rejects(() => transaction.settle([invalid]), 'INVALID_INPUT')
            await transaction.rollback()
          }
        }),
      )
    },
  },
  {
    name: 'a bad lease time is INVALID_INPUT and the lease stays as it was',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of, { leaseMs: 10_000 })
      for (const leaseMs of [...badCounts, 86_400_001]) {
        await rejects(() => store.extend([lease], leaseMs), 'INVALID_INPUT')
      }
      await advance(10_001)
      assert.deepEqual(await store.extend([lease], LEASE_MS), [false])
    },
  },
  {
    name: 'a bad delay is INVALID_INPUT and the event is not released',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      await changesNothing(store, of, async () => {
        for (const delayMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
          await rejects(() => store.release([lease], delayMs), 'INVALID_INPUT')
        }
      })
      assert.deepEqual(await store.release([lease], 0.5), [true])
    },
  },
  {
    name: 'a bad order is INVALID_INPUT and moves nothing',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const order: Action = { verb: 'ignore', events: [of], actor: 'ada', note: '' }
      await changesNothing(store, of, async () => {
        for (const bad of badActions)
          await rejects(() => store.operate({ ...order, ...bad }), 'INVALID_INPUT')
      })
    },
  },
  {
    name: 'a bad effect is INVALID_INPUT and is not started',
    needs: ['keys'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      const bad: EffectStep[] = [
        ...badTexts.map((name) => ({ step: 'start', lease, name }) as const),
        { step: 'finish', lease, name: 'mail', result: 'x'.repeat(262_145) },
        { step: 'finish', lease, name: 'mail', result: 'a\0' },
      ]
      for (const step of bad) await rejects(() => store.keys.effect(step), 'INVALID_INPUT')
      assert.deepEqual(await store.keys.effect({ step: 'start', lease, name: 'mail' }), { state: 'new' })
    },
  },
  {
    name: 'a bad filter or page is INVALID_INPUT',
    async run({ open }) {
      const store = await open()
      for (const bad of badFilters) await rejects(() => store.list(bad), 'INVALID_INPUT')
      for (const limit of badCounts) await rejects(() => store.list({}, { limit }), 'INVALID_INPUT')
    },
  },
  {
    name: 'a bad prune is INVALID_INPUT and removes nothing',
    needs: ['inspect', 'retention'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt', { receivedAt: 0 })
      const { lease } = await claimEvent(store, of)
      await store.settle([settlement(lease, succeeded)])
      const before = Date.now()
      await changesNothing(store, of, async () => {
        for (const limit of badCounts) {
          await rejects(
            () => store.retention.prune({ source: SOURCE, limit, eventsBefore: before }),
            'INVALID_INPUT',
          )
        }
        for (const bad of [Number.NaN, -1]) {
          await rejects(
            () => store.retention.prune({ source: SOURCE, limit: 1, eventsBefore: bad }),
            'INVALID_INPUT',
          )
          await rejects(
            () => store.retention.prune({ source: SOURCE, limit: 1, payloadsBefore: bad }),
            'INVALID_INPUT',
          )
        }
      })
    },
  },
  {
    name: 'a read with an impossible key finds nothing or is INVALID_INPUT, and never fails otherwise',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      for (const text of [...badTexts, 'x'.repeat(100_000)]) {
        await nothingOrInvalid(() => store.get(key(text)))
        await nothingOrInvalid(() => store.get(key('evt', text)))
        await nothingOrInvalid(() => store.inspect.payload(key(text)))
        await nothingOrInvalid(() => store.inspect.attempts(key(text)))
        for (const field of ['source', 'id', 'type', 'reason', 'reference'] as const) {
          await nothingOrInvalid(async () => (await store.list({ [field]: text })).events)
        }
      }
    },
  },
  {
    name: 'text with SQL syntax is stored as plain text',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      const texts = ["'; drop table events; --", '" or ""="', '$1', '?1', ':a', '\\', '%', '_', '{}', 'null']
      for (const text of texts) {
        const body = { type: text, reference: text }
        const [verdict] = await record(store, delivery(event(text, body), { source: text }))
        assert.equal(verdict?.status, 'recorded')
        const own = key(text, text)
        const claimed = await claimEvent(store, own, { worker: text })
        await store.settle([settlement(claimed.lease, { ...failedFor(0), error: text } as Outcome)])
        for (const filter of [{ source: text }, { id: text }, { type: text }, { reference: text }]) {
          assert.deepEqual(
            (await listAll(store, filter)).map((e) => e.id),
            [text],
            JSON.stringify(filter),
          )
        }
        assert.equal((await store.inspect.attempts(own))[0]?.detail, text)
      }
      assert.equal((await listAll(store)).length, texts.length)
    },
  },
]

async function nothingOrInvalid(look: () => Promise<unknown>): Promise<void> {
  try {
    const found = await look()
    assert.ok(found === null || (Array.isArray(found) && found.length === 0))
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, 'INVALID_INPUT', String(error))
  }
}
