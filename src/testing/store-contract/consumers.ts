/** Cases of the `consumers` capability: rows of their own for the events of another source. */
import assert from 'node:assert/strict'
import type { EventKey } from '../../model.js'
import type { CompleteStore, Consumer } from '../../store.js'
import { statsAgree } from './stats.js'
import {
  attempt,
  bytes,
  type ContractCase,
  claim,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  get,
  key,
  listAll,
  openSeveral,
  operate,
  range,
  record,
  recordEvent,
  rejects,
  SOURCE,
  settle,
  succeeded,
} from './support.js'

const MAIL = `${SOURCE}/mail`
const now = () => Date.now()
const ofMail = (id: string): EventKey => key(id, MAIL)

async function consumer(store: CompleteStore, source = MAIL): Promise<Consumer> {
  const found = (await store.consumers.list()).find((one) => one.source === source)
  assert.ok(found, `${source} is known`)
  return found
}

/** Copies everything that the consumer has not got yet. */
async function follow(store: CompleteStore, source = MAIL, lane: string | null = null): Promise<void> {
  for (;;) {
    const { position } = await consumer(store, source)
    const page = await store.tail({ after: position, limit: 100, source: SOURCE })
    if (page.position === position) return
    const events = page.events.map(({ seq }) => ({ seq, lane }))
    await store.consumers.copy({ source, from: position, to: page.position, events })
  }
}

async function openMail(store: CompleteStore, from: 'now' | number = 0): Promise<void> {
  await store.consumers.open([{ source: MAIL, from }])
}

const idsOf = async (store: CompleteStore, source = MAIL) =>
  (await listAll(store, { source })).map(({ id }) => id).reverse()

export const consumerCases: readonly ContractCase[] = [
  {
    name: 'a copy is an event of its own, with the bytes of the event it follows',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await openMail(store)
      const body = bytes('{"paid":true}')
      await record(store, delivery(event('a', { reference: 'order_1' }), { body }))
      await follow(store)
      const [main, copy] = [await get(store, key('a')), await get(store, ofMail('a'))]
      assert.deepEqual(
        { ...copy, seq: main.seq, source: SOURCE, nextAttemptAt: main.nextAttemptAt },
        main,
        'the copy says the same about the event',
      )
      assert.ok(copy.seq > main.seq)
      await attempt(store, key('a'), succeeded)
      const claimed = await claimEvent(store, ofMail('a'))
      assert.deepEqual(Buffer.from(claimed.body!), Buffer.from(body))
      assert.equal(await settle(store, claimed.lease, dead), true)
      assert.deepEqual(
        [(await get(store, key('a'))).state, (await get(store, ofMail('a'))).state],
        ['succeeded', 'failed'],
      )
      assert.ok((await operate(store, 'retry', ofMail('a'))).done)
      await attempt(store, ofMail('a'), succeeded)
      assert.equal((await store.inspect.attempts(key('a'))).length, 1)
      assert.equal((await store.inspect.attempts(ofMail('a'))).length, 2)
      await statsAgree(store)
    },
  },
  {
    name: 'every event of a delivery is copied in its order, with its part',
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await store.record([delivery([event('b'), event('a'), event('c')]), delivery('d')])
      await follow(store)
      assert.deepEqual(await idsOf(store), ['b', 'a', 'c', 'd'])
      const claimed = await claim(store, { sources: [MAIL] })
      assert.deepEqual(
        claimed.map(({ id, part }) => [id, part]),
        [
          ['b', 0],
          ['a', 1],
          ['c', 2],
          ['d', 0],
        ],
      )
      assert.ok(claimed.every(({ body }) => body !== null))
    },
  },
  {
    name: 'a copy from another position writes nothing, and events that the consumer has stay as they are',
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await recordEvent(store, 'a')
      await follow(store)
      await attempt(store, ofMail('a'), succeeded)
      const { position } = await consumer(store)
      await recordEvent(store, 'b')
      const [a, b] = [await get(store, key('a')), await get(store, key('b'))]
      const events = [a, b].map(({ seq }) => ({ seq, lane: null }))
      assert.equal(await store.consumers.copy({ source: MAIL, from: 0, to: b.seq, events }), false)
      assert.equal(await store.consumers.copy({ source: `${SOURCE}/none`, from: 0, to: 1, events }), false)
      assert.deepEqual(await idsOf(store), ['a'])
      assert.equal(await store.consumers.copy({ source: MAIL, from: position, to: b.seq, events }), true)
      assert.equal((await get(store, ofMail('a'))).state, 'succeeded')
      assert.deepEqual(await idsOf(store), ['a', 'b'])
      await statsAgree(store)
    },
  },
  {
    name: 'many writers and many followers: each consumer gets every event once, in the order of the log',
    async run(harness) {
      const stores = await openSeveral(harness, 4)
      const others = [MAIL, `${SOURCE}/crm`]
      await stores[0]!.consumers.open(others.map((source) => ({ source, from: 0 })))
      let writing = true
      const writes = stores.map(async (writer, w) => {
        for (const i of range(15)) {
          const own = range(1 + (i % 5)).map((n) => delivery(`own ${w} ${i} ${n}`))
          await writer.record([...own, delivery(`shared ${i}`)])
        }
      })
      const done = Promise.all(writes).finally(() => {
        writing = false
      })
      const followers = stores.flatMap((store) =>
        others.map(async (source) => {
          while (writing) await follow(store, source)
        }),
      )
      await Promise.all([done, ...followers])
      const order = await idsOf(stores[0]!, SOURCE)
      for (const source of others) {
        await follow(stores[0]!, source)
        assert.deepEqual(await idsOf(stores[0]!, source), order)
      }
      await statsAgree(stores[0]!)
    },
  },
  {
    name: 'a new consumer starts now, at an instant or at the beginning, and a known one keeps its position',
    async run({ open }) {
      const store = await open()
      const days = [40, 8, 2]
      for (const d of days) await recordEvent(store, `${d} days`, { receivedAt: now() - d * DAY_MS })
      const from = { now: 'now', week: now() - 7 * DAY_MS, all: 0, late: now() + DAY_MS } as const
      await store.consumers.open(
        Object.entries(from).map(([name, from]) => ({ source: `${SOURCE}/${name}`, from })),
      )
      await store.consumers.open([{ source: `${SOURCE}/now`, from: 0 }])
      await recordEvent(store, 'new')
      const expected = {
        now: ['new'],
        week: ['2 days', 'new'],
        all: ['40 days', '8 days', '2 days', 'new'],
        late: ['new'],
      }
      for (const [name, ids] of Object.entries(expected)) {
        await follow(store, `${SOURCE}/${name}`)
        assert.deepEqual(await idsOf(store, `${SOURCE}/${name}`), ids, name)
      }
      assert.deepEqual(
        (await store.consumers.list()).map(({ source }) => source),
        ['all', 'late', 'now', 'week'].map((name) => `${SOURCE}/${name}`),
      )
    },
  },
  {
    name: 'a lane of a consumer is claimed in order, whatever the followed source does',
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await record(store, ...['a', 'b', 'c'].map((id) => delivery(id)))
      await follow(store, MAIL, 'order_1')
      assert.equal((await claim(store, { sources: [SOURCE] })).length, 3)
      for (const id of ['a', 'b', 'c']) {
        const claimed = await claim(store, { sources: [MAIL] })
        assert.deepEqual(
          claimed.map((one) => one.id),
          [id],
        )
        await settle(store, claimed[0]!.lease, succeeded)
      }
    },
  },
  {
    name: 'a withheld event waits for a review at the consumer too',
    async run({ open }) {
      const store = await open()
      await openMail(store)
      const guardHash = new Uint8Array(32).fill(7)
      await record(store, delivery(event('a', { guardHash })), delivery(event('b', { guardHash })))
      await follow(store)
      const copy = await get(store, ofMail('b'))
      assert.deepEqual([copy.state, copy.reason, copy.sameAs], ['ignored', 'replayed_content', 'a'])
      assert.deepEqual(
        (await claim(store, { sources: [MAIL] })).map(({ id }) => id),
        ['a'],
      )
      assert.ok((await operate(store, 'replay', ofMail('b'))).done)
      assert.equal((await get(store, key('b'))).state, 'ignored', 'the decision is about one consumer')
      await statsAgree(store)
    },
  },
  {
    name: 'retention keeps a shared payload until the last consumer has finished',
    needs: ['retention', 'inspect'],
    async run({ open }) {
      const store = await open()
      await openMail(store)
      const receivedAt = now() - 10 * DAY_MS
      await store.record([
        delivery('one', { receivedAt }),
        delivery([event('m1'), event('m2')], { receivedAt }),
      ])
      await follow(store)
      const all = ['one', 'm1', 'm2']
      for (const id of all) await attempt(store, key(id), succeeded)
      const prune = (source: string, what: 'payloadsBefore' | 'eventsBefore') =>
        store.retention.prune({ source, [what]: now() - DAY_MS, limit: 100 })
      const maintained = async () =>
        store.retention.maintain({ payloadsBefore: { [SOURCE]: now() - DAY_MS, [MAIL]: now() - DAY_MS } })
      assert.equal((await prune(SOURCE, 'payloadsBefore')).payloads, 0)
      await maintained()
      assert.equal(
        (await prune(SOURCE, 'eventsBefore')).events,
        3,
        'the events of the main consumer are done',
      )
      for (const id of all) assert.ok(await store.inspect.payload(ofMail(id)), id)
      for (const id of all.slice(0, 2)) await attempt(store, ofMail(id), succeeded)
      assert.equal((await prune(MAIL, 'payloadsBefore')).payloads, 1)
      assert.equal(await store.inspect.payload(ofMail('one')), null)
      assert.ok(await store.inspect.payload(ofMail('m2')), 'a payload of two events')
      await attempt(store, ofMail('m2'), succeeded)
      assert.equal((await prune(MAIL, 'eventsBefore')).events, 3)
      assert.deepEqual(await listAll(store), [])
      await statsAgree(store)
    },
  },
  {
    name: 'the events of a consumer go first, and the payload stays for the followed source',
    needs: ['retention', 'inspect'],
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await recordEvent(store, 'a', { receivedAt: now() - 10 * DAY_MS })
      await follow(store)
      await attempt(store, ofMail('a'), succeeded)
      const prune = { source: MAIL, payloadsBefore: now(), eventsBefore: now() - DAY_MS, limit: 100 }
      assert.deepEqual(await store.retention.prune(prune), {
        payloads: 0,
        events: 1,
        attempts: 0,
        audits: 0,
        more: false,
      })
      assert.ok(await store.inspect.payload(key('a')))
      assert.ok((await claimEvent(store, key('a'))).body)
    },
  },
  {
    name: 'other content that an operator runs does not change the content of a consumer',
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await recordEvent(store, 'a', { body: bytes('first') })
      await follow(store)
      await record(store, delivery(event('a', { contentHash: new Uint8Array(32) }), { body: bytes('other') }))
      await attempt(store, key('a'), succeeded)
      assert.ok((await operate(store, 'replay', key('a'), { conflict: true, force: true })).done)
      const text = async (of: EventKey) => Buffer.from((await claimEvent(store, of)).body!).toString()
      assert.deepEqual([await text(key('a')), await text(ofMail('a'))], ['other', 'first'])
    },
  },
  {
    name: 'an erasure reaches the copies, and an event that was erased or has no payload is not copied',
    needs: ['archive', 'inspect', 'retention'],
    async run({ open }) {
      const store = await open()
      await openMail(store)
      const receivedAt = now() - 10 * DAY_MS
      const about = (id: string, reference: string) => delivery(event(id, { reference }), { receivedAt })
      await record(store, about('before', 'ada'))
      await follow(store)
      await record(store, about('after', 'ada'), about('old', 'bob'), about('new', 'bob'))
      const erased = await store.archive.erase({ reference: 'ada', actor: 'me', note: '', limit: 10 })
      assert.deepEqual([erased.payloads, erased.events], [2, 3])
      assert.equal((await get(store, ofMail('before'))).payload, 'erased')
      await attempt(store, key('old'), succeeded)
      await store.retention.prune({ source: SOURCE, payloadsBefore: now(), limit: 10 })
      await follow(store)
      assert.deepEqual(await idsOf(store), ['before', 'new'])
    },
  },
  {
    name: 'an archive has each delivery once, with the events of its source',
    needs: ['archive'],
    async run({ open }) {
      const store = await open()
      await openMail(store)
      await store.record([delivery('one'), delivery([event('m1'), event('m2')])])
      await follow(store)
      const page = await store.archive.export({
        source: SOURCE,
        from: 0,
        to: now() + DAY_MS,
        after: 0,
        limit: 10,
      })
      assert.deepEqual(
        page.deliveries.map(({ events }) => events.map(({ id }) => id)),
        [['one'], ['m1', 'm2']],
      )
    },
  },
  {
    name: 'a copy wakes the other stores of the log, as a new event does',
    async run(harness) {
      if (harness.sharedBetweenProcesses === false) return
      const [store, other] = await openSeveral(harness, 2)
      await openMail(store!)
      await recordEvent(store!, 'a')
      let wake = () => {}
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      // What the record itself has caused is over.
      await new Promise((resolve) => setTimeout(resolve, 100))
      const end = await other!.subscribe(() => wake())
      await follow(store!)
      await woken
      await end()
    },
  },
  {
    name: 'a bad consumer or copy is INVALID_INPUT',
    async run({ open }) {
      const store = await open()
      await rejects(() => store.consumers.open([{ source: '', from: 'now' }]), 'INVALID_INPUT')
      await rejects(() => store.consumers.open([{ source: MAIL, from: -1 }]), 'INVALID_INPUT')
      const copy = { source: MAIL, from: 0, to: 1, events: [] }
      await rejects(() => store.consumers.copy({ ...copy, source: SOURCE }), 'INVALID_INPUT')
      await rejects(() => store.consumers.copy({ ...copy, to: 0 }), 'INVALID_INPUT')
      await rejects(() => store.consumers.copy({ ...copy, from: 0.5 }), 'INVALID_INPUT')
      await rejects(
        () => store.consumers.copy({ ...copy, events: [{ seq: 0, lane: null }] }),
        'INVALID_INPUT',
      )
    },
  },
]
