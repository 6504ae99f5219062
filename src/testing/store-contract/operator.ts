/** Orders of an operator: each event is judged on its own, and success is left alone unless forced. */
import assert from 'node:assert/strict'
import type { ContractCase } from './harness.js'
import {
  attempt,
  claim,
  claimOne,
  dead,
  failedFor,
  get,
  ignored,
  key,
  listAll,
  operate,
  range,
  recordOne,
  settle,
  snapshot,
  succeeded,
} from './support.js'

export const operatorCases: readonly ContractCase[] = [
  {
    name: 'an order is answered per event, in order',
    async run({ open }) {
      const store = await open()
      for (const id of ['new', 'running', 'done', 'left', 'dead', 'retrying']) await recordOne(store, id)
      await claimOne(store, key('running'))
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('left'), ignored)
      await attempt(store, key('dead'), dead)
      await attempt(store, key('retrying'), failedFor(60_000))
      const events = ['dead', 'missing', 'new', 'running', 'left', 'done', 'retrying'].map((id) => key(id))
      const results = await store.operate({ verb: 'retry', events, actor: 'ada', reason: '' })
      assert.deepEqual(results, [
        { done: true, from: 'failed', to: 'pending' },
        { done: false, code: 'EVENT_NOT_FOUND' },
        { done: false, code: 'MOVE_FORBIDDEN' },
        { done: false, code: 'EVENT_PROCESSING' },
        { done: true, from: 'ignored', to: 'pending' },
        { done: false, code: 'MOVE_FORBIDDEN' },
        { done: true, from: 'failed', to: 'pending' },
      ])
      assert.deepEqual((await claim(store)).map((c) => c.eventId).sort(), ['dead', 'left', 'new', 'retrying'])
    },
  },
  {
    name: 'an order for nothing is answered with nothing',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await store.operate({ verb: 'retry', events: [], actor: 'ada', reason: '' }), [])
    },
  },
  {
    name: 'an event that has succeeded is replayed only with force',
    async run({ open }) {
      const store = await open()
      const of = await recordOne(store, 'evt')
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
      const claimed = await claimOne(store, of)
      assert.deepEqual([claimed.run, claimed.attempt, claimed.tries], [2, 2, 1])
    },
  },
  {
    name: 'a dry run says what would happen and changes nothing',
    async run({ open }) {
      const store = await open()
      for (const id of ['done', 'dead', 'new']) await recordOne(store, id)
      await attempt(store, key('done'), succeeded)
      await attempt(store, key('dead'), dead)
      const before = await listAll(store)
      const events = [key('done'), key('dead'), key('new'), key('missing')]
      const order = { verb: 'replay', events, actor: 'ada', reason: '', force: true } as const
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
      const [one, two] = [await recordOne(store, 'new'), await recordOne(store, 'retrying')]
      await attempt(store, two, failedFor(0))
      assert.ok((await operate(store, 'ignore', one)).done)
      assert.ok((await operate(store, 'ignore', two)).done)
      assert.deepEqual(await claim(store), [])
      for (const of of [one, two]) {
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
        events.map(({ source, eventId }) => ({
          source,
          headers: {},
          body: new Uint8Array(0),
          events: [{ eventId, eventType: 't', reference: null, contentHash: null, guardHash: null }],
          onReplayedContent: 'review' as const,
        })),
      )
      const results = await store.operate({ verb: 'ignore', events, actor: 'ada', reason: 'test run' })
      assert.equal(results.filter((r) => r.done).length, 1_000)
      assert.equal((await store.stats())[0]?.ignored, 1_000)
    },
  },
  {
    name: 'of an order and a worker that race for an event, each outcome is one the table allows',
    async run({ open }) {
      const [one, two] = [await open(), await open()]
      for (const i of range(30)) {
        const of = await recordOne(one, `e${i}`)
        await attempt(one, of, failedFor(0))
        const [claimed, result] = await Promise.all([
          claim(one, { event: of, limit: 1 }),
          operate(two, i % 2 ? 'ignore' : 'replay', of),
        ])
        const { state, run } = await get(one, of)
        if (claimed.length === 0) {
          assert.ok(result.done)
          assert.equal(state, i % 2 ? 'ignored' : 'pending')
        } else if (result.done) {
          // The order came first; the worker took the event as the order had left it.
          assert.deepEqual([i % 2, state, claimed[0]?.run, claimed[0]?.tries], [0, 'processing', 2, 1])
        } else {
          assert.deepEqual([result.code, state, run], ['EVENT_PROCESSING', 'processing', 1])
        }
        if (claimed[0]) assert.equal(await settle(one, claimed[0].lease, succeeded), true)
      }
    },
  },
]
