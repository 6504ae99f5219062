/** Actions of an operator: each event is judged on its own, and a succeeded event is replayed only with force. */
import assert from 'node:assert/strict'
import {
  attempt,
  type ContractCase,
  claim,
  claimEvent,
  DAY_MS,
  dead,
  delivery,
  event,
  failedFor,
  get,
  ignored,
  key,
  listAll,
  operate,
  range,
  recordEvent,
  SOURCE,
  settle,
  snapshot,
  succeeded,
} from './support.js'

export const operatorCases: readonly ContractCase[] = [
  {
    name: 'an order returns a result for each event, in order',
    async run({ open }) {
      const store = await open()
      for (const id of ['new', 'running', 'done', 'left', 'dead', 'retrying']) await recordEvent(store, id)
      await claimEvent(store, key('running'))
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('left'), ignored)
      await attempt(store, key('dead'), dead)
      await attempt(store, key('retrying'), failedFor(60_000))
      const events = ['dead', 'missing', 'new', 'running', 'left', 'done', 'retrying'].map((id) => key(id))
      const results = await store.operate({ verb: 'retry', events, actor: 'ada', note: '' })
      assert.deepEqual(results, [
        { done: true, from: 'failed', to: 'pending' },
        { done: false, code: 'EVENT_NOT_FOUND' },
        { done: false, code: 'MOVE_FORBIDDEN' },
        { done: false, code: 'EVENT_PROCESSING' },
        { done: true, from: 'ignored', to: 'pending' },
        { done: false, code: 'MOVE_FORBIDDEN' },
        { done: true, from: 'failed', to: 'pending' },
      ])
      assert.deepEqual((await claim(store)).map((c) => c.id).sort(), ['dead', 'left', 'new', 'retrying'])
    },
  },
  {
    name: 'an order without events returns an empty list',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.operate({ verb: 'retry', events: [], actor: 'ada', note: '' }), [])
    },
  },
  {
    name: 'an event that has succeeded is replayed only with force',
    async run({ open }) {
      const store = await open()
      const of = await recordEvent(store, 'evt')
      await attempt(store, of, succeeded)
      const before = await snapshot(store, of)
      for (const verb of ['retry', 'ignore'] as const) {
        assert.deepEqual(await operate(store, verb, of, { force: true }), {
          done: false,
          code: 'MOVE_FORBIDDEN',
        })
      }
      assert.deepEqual(await operate(store, 'replay', of), { done: false, code: 'FORCE_NEEDED' })
      assert.deepEqual(await operate(store, 'replay', of, { force: false }), {
        done: false,
        code: 'FORCE_NEEDED',
      })
      assert.deepEqual(await snapshot(store, of), before)
      assert.deepEqual(await operate(store, 'replay', of, { force: true }), {
        done: true,
        from: 'succeeded',
        to: 'pending',
      })
      const claimed = await claimEvent(store, of)
      assert.deepEqual([claimed.run, claimed.attempt, claimed.tries], [2, 2, 1])
    },
  },
  {
    name: 'an event without its payload is neither retried nor replayed, and stays as it is',
    needs: ['retention', 'archive'],
    async run({ open }) {
      const store = await open()
      for (const id of ['done', 'left'])
        await recordEvent(store, id, { receivedAt: Date.now() - 40 * DAY_MS })
      await store.record([delivery(event('dead', { reference: 'cus_1' }))])
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('left'), ignored)
      await attempt(store, key('dead'), dead)
      await store.retention.prune({ source: SOURCE, payloadsBefore: Date.now() - DAY_MS, limit: 100 })
      await store.archive.erase({ reference: 'cus_1', actor: 'ada', note: '', limit: 100 })
      const refused = { done: false, code: 'PAYLOAD_REMOVED' }
      const before = await listAll(store)
      for (const dryRun of [true, false]) {
        const about = { events: ['left', 'dead'].map((id) => key(id)), actor: 'ada', note: '', dryRun }
        assert.deepEqual(await store.operate({ ...about, verb: 'retry' }), [refused, refused])
        const all = [...about.events, key('done')]
        const order = { ...about, events: all, verb: 'replay', force: true } as const
        assert.deepEqual(await store.operate(order), [refused, refused, refused])
      }
      assert.deepEqual(await operate(store, 'replay', key('done')), refused)
      assert.deepEqual(await listAll(store), before)
      assert.deepEqual(await claim(store), [])
      assert.deepEqual(await operate(store, 'ignore', key('dead')), {
        done: true,
        from: 'failed',
        to: 'ignored',
      })
    },
  },
  {
    name: 'a dry run returns the results of the order and changes nothing',
    async run({ open }) {
      const store = await open()
      for (const id of ['done', 'dead', 'new']) await recordEvent(store, id)
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('dead'), dead)
      const before = await listAll(store)
      const events = [key('done'), key('dead'), key('new'), key('missing')]
      const order = { verb: 'replay', events, actor: 'ada', note: '', force: true } as const
      const dry = await store.operate({ ...order, dryRun: true })
      assert.deepEqual(await listAll(store), before)
      assert.deepEqual(await store.operate(order), dry)
      assert.deepEqual(
        dry.map((r) => r.done),
        [true, true, false, false],
      )
    },
  },
  {
    name: 'an event an operator has ignored is not handled, and its reason says so',
    async run({ open }) {
      const store = await open()
      const [fresh, retrying] = [await recordEvent(store, 'new'), await recordEvent(store, 'retrying')]
      await attempt(store, retrying, failedFor(0))
      assert.ok((await operate(store, 'ignore', fresh)).done)
      assert.ok((await operate(store, 'ignore', retrying)).done)
      assert.deepEqual(await claim(store), [])
      for (const of of [fresh, retrying]) {
        const found = await get(store, of)
        assert.deepEqual([found.state, found.reason, found.nextAttemptAt], ['ignored', 'operator', null])
      }
    },
  },
  {
    name: 'an order for a thousand events is carried out whole',
    async run({ open }) {
      const store = await open()
      const events = range(1_000).map((i) => key(`e${i}`))
      await store.record(
        events.map(({ source, id }) => ({
          source,
          headers: {},
          body: new Uint8Array(0),
          events: [{ id: id, type: 't', reference: null, contentHash: null, guardHash: null }],
          contentGuard: 'review' as const,
        })),
      )
      const results = await store.operate({ verb: 'ignore', events, actor: 'ada', note: 'test run' })
      assert.equal(results.filter((r) => r.done).length, 1_000)
      assert.equal((await store.stats())[0]?.ignored, 1_000)
    },
  },
  {
    name: 'an order and a worker that race for an event end in a state that the table allows',
    async run({ open }) {
      const [storeA, storeB] = [await open(), await open()]
      for (const i of range(30)) {
        const of = await recordEvent(storeA, `e${i}`)
        await attempt(storeA, of, failedFor(0))
        const [claimed, result] = await Promise.all([
          claim(storeA, { event: of, limit: 1 }),
          operate(storeB, i % 2 ? 'ignore' : 'replay', of),
        ])
        const { state, run } = await get(storeA, of)
        if (claimed.length === 0) {
          assert.ok(result.done)
          assert.equal(state, i % 2 ? 'ignored' : 'pending')
        } else if (result.done) {
          // The action came first, and the worker claimed the event after it.
          assert.deepEqual([i % 2, state, claimed[0]?.run, claimed[0]?.tries], [0, 'processing', 2, 1])
        } else {
          assert.deepEqual([result.code, state, run], ['EVENT_PROCESSING', 'processing', 1])
        }
        if (claimed[0]) assert.equal(await settle(storeA, claimed[0].lease, succeeded), true)
      }
    },
  },
]
