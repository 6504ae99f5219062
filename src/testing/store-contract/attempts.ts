/** Attempts: which ones count, and the row that each leaves. */
import assert from 'node:assert/strict'
import type { CompleteStore } from '../../store.js'
import {
  attempt,
  type ContractCase,
  claim,
  claimEvent,
  dead,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  operate,
  range,
  recordEvent,
  settle,
  succeeded,
} from './support.js'

const of = key('evt')

async function written(store: CompleteStore) {
  return (await store.inspect.attempts(of)).map(({ attempt, run, worker, outcome, detail }) => ({
    attempt,
    run,
    worker,
    outcome,
    detail,
  }))
}

export const attemptCases: readonly ContractCase[] = [
  {
    name: 'each attempt is written down with its worker, outcome and detail, oldest first',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      assert.deepEqual(await store.inspect.attempts(of), [])
      await attempt(store, of, failedFor(0))
      const second = await claimEvent(store, of, { worker: 'worker-2' })
      await settle(store, second.lease, { kind: 'failed', error: 'line 1\nline 2: "é" \u2603', retryInMs: 0 })
      await attempt(store, of, succeeded)
      assert.deepEqual(await written(store), [
        { attempt: 1, run: 1, worker: 'worker-1', outcome: 'failed', detail: 'try later' },
        { attempt: 2, run: 1, worker: 'worker-2', outcome: 'failed', detail: 'line 1\nline 2: "é" \u2603' },
        { attempt: 3, run: 1, worker: 'worker-1', outcome: 'succeeded', detail: null },
      ])
      for (const { startedAt, finishedAt } of await store.inspect.attempts(of))
        assert.ok(startedAt <= finishedAt)
    },
  },
  {
    name: 'a failed attempt keeps the place in the code, and the reason of the event does not have it',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const place = 'at pay (/app/pay.js:12:7)'
      await attempt(store, of, { kind: 'failed', error: 'try later', retryInMs: 0, place })
      assert.equal((await get(store, of)).reason, 'try later')
      await attempt(store, of, failedFor(0))
      await attempt(store, of, { kind: 'failed', error: 'out of tries', retryInMs: null, place: '' })
      assert.deepEqual(
        (await store.inspect.attempts(of)).map((a) => a.place),
        [place, null, null],
      )
    },
  },
  {
    name: 'the record of an event has its outcome and the time it was finished',
    async run({ open, advance }) {
      const store = await open()
      for (const [id, outcome, state, reason] of [
        ['a', succeeded, 'succeeded', null],
        ['b', ignored, 'ignored', 'not for us'],
        ['c', dead, 'failed', 'out of tries'],
      ] as const) {
        const { receivedAt } = await get(store, await recordEvent(store, id))
        await advance(5_000)
        await attempt(store, key(id), outcome)
        const found = await get(store, key(id))
        assert.deepEqual(
          [found.state, found.reason, found.nextAttemptAt, found.attempts],
          [state, reason, null, 1],
        )
        assert.ok(found.processedAt !== null && found.processedAt >= receivedAt + 5_000)
      }
    },
  },
  {
    name: 'a failure with a next attempt says why it failed and when it is due',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await advance(1_000)
      await attempt(store, of, failedFor(60_000))
      const found = await get(store, of)
      assert.deepEqual([found.state, found.reason, found.processedAt], ['failed', 'try later', null])
      const inMs = (found.nextAttemptAt ?? 0) - found.receivedAt
      assert.ok(inMs >= 61_000 && inMs < 91_000, `due ${inMs} ms after its arrival`)
    },
  },
  {
    name: 'the attempt that runs is counted from its claim',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const claimed = await claimEvent(store, of)
      assert.deepEqual([claimed.attempt, claimed.tries, claimed.run], [1, 1, 1])
      assert.equal((await get(store, of)).attempts, 1)
    },
  },
  {
    name: 'a crash counts as an attempt and is written down as lost',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      for (const n of range(3)) {
        const claimed = await claimEvent(store, of, { worker: `crashing-${n}` })
        assert.deepEqual([claimed.attempt, claimed.tries], [n + 1, n + 1])
        await advance(LEASE_MS + 1)
        assert.equal((await get(store, of)).attempts, n + 1)
      }
      await attempt(store, of, succeeded)
      assert.deepEqual(await written(store), [
        { attempt: 1, run: 1, worker: 'crashing-0', outcome: 'lost', detail: null },
        { attempt: 2, run: 1, worker: 'crashing-1', outcome: 'lost', detail: null },
        { attempt: 3, run: 1, worker: 'crashing-2', outcome: 'lost', detail: null },
        { attempt: 4, run: 1, worker: 'worker-1', outcome: 'succeeded', detail: null },
      ])
      for (const { startedAt, finishedAt } of await store.inspect.attempts(of))
        assert.ok(startedAt <= finishedAt)
    },
  },
  {
    name: "an attempt that was lost before an operator's order is written down too",
    needs: ['inspect'],
    async run({ open, advance }) {
      for (const verb of ['retry', 'replay', 'ignore'] as const) {
        const store = await open()
        const own = await recordEvent(store, verb)
        await attempt(store, own, failedFor(0))
        await claimEvent(store, own, { worker: 'crashing' })
        await advance(LEASE_MS + 1)
        assert.ok((await operate(store, verb, own)).done)
        assert.deepEqual(
          (await store.inspect.attempts(own)).map((a) => [a.attempt, a.worker, a.outcome]),
          [
            [1, 'worker-1', 'failed'],
            [2, 'crashing', 'lost'],
          ],
          verb,
        )
        assert.equal((await get(store, own)).attempts, 2, verb)
      }
    },
  },
  {
    name: 'a claim reports how many attempts in a row were lost before it',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const losses = async () => {
        const [claimed] = await claim(store)
        assert.ok(claimed)
        return [claimed.losses, claimed.lease] as const
      }
      for (const n of range(3)) {
        assert.equal((await losses())[0], n)
        await advance(LEASE_MS + 1)
      }
      const [third, handedBack] = await losses()
      assert.deepEqual(await store.release([handedBack]), [true])
      const [afterRelease, failing] = await losses()
      assert.deepEqual(
        [third, afterRelease],
        [3, 3],
        'a release changes nothing about the attempts before it',
      )
      assert.equal(await settle(store, failing, failedFor(0)), true)
      assert.equal((await losses())[0], 0, 'an outcome ends the row')
      await advance(LEASE_MS + 1)
      assert.equal((await losses())[0], 1)
      await advance(LEASE_MS + 1)
      await operate(store, 'replay', of)
      assert.equal((await losses())[0], 0, 'so does a new start')
    },
  },
  {
    name: 'a release does not use up an attempt',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      for (const _ of range(5)) {
        const claimed = await claimEvent(store, of)
        assert.deepEqual([claimed.attempt, claimed.tries], [1, 1])
        assert.deepEqual(await store.release([claimed.lease]), [true])
        assert.equal((await get(store, of)).attempts, 0)
      }
      await attempt(store, of, failedFor(0))
      const later = await claimEvent(store, of)
      assert.deepEqual([later.attempt, later.tries], [2, 2])
      assert.deepEqual(await store.release([later.lease]), [true])
      const again = await claimEvent(store, of)
      assert.deepEqual([again.attempt, again.tries], [2, 2])
      assert.equal((await store.inspect.attempts(of)).length, 1)
    },
  },
  {
    name: 'a released event is due again after the delay of the release',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const { lease } = await claimEvent(store, of)
      assert.deepEqual(await store.release([lease], 60_000), [true])
      assert.equal((await get(store, of)).state, 'pending')
      assert.deepEqual(await claim(store), [])
      await advance(60_001)
      assert.deepEqual(
        (await claim(store)).map((c) => [c.id, c.attempt]),
        [['evt', 1]],
      )
    },
  },
  {
    name: 'a release after a crash uncounts its own attempt, not the lost one',
    needs: ['inspect'],
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await claimEvent(store, of)
      await advance(LEASE_MS + 1)
      const second = await claimEvent(store, of)
      assert.equal(second.attempt, 2)
      assert.deepEqual(await store.release([second.lease]), [true])
      const found = await get(store, of)
      assert.deepEqual([found.state, found.attempts], ['failed', 1])
      assert.equal((await attempt(store, of, succeeded)).attempt, 2)
      assert.deepEqual(
        (await written(store)).map((a) => [a.attempt, a.outcome]),
        [
          [1, 'lost'],
          [2, 'succeeded'],
        ],
      )
    },
  },
  {
    name: 'tries start again after retry and replay, attempt numbers never repeat, and a replay is a new run',
    needs: ['inspect'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const seen: number[][] = []
      async function take(outcome: Parameters<typeof attempt>[2]): Promise<void> {
        const { attempt: number, tries, run } = await attempt(store, of, outcome)
        seen.push([number, tries, run])
      }
      await take(failedFor(0))
      await take(dead)
      assert.ok((await operate(store, 'retry', of)).done)
      await take(failedFor(0))
      await take(ignored)
      assert.ok((await operate(store, 'replay', of)).done)
      await take(succeeded)
      assert.ok((await operate(store, 'replay', of, { force: true })).done)
      await take(failedFor(60_000))
      assert.ok((await operate(store, 'retry', of)).done)
      await take(succeeded)
      assert.deepEqual(seen, [
        [1, 1, 1],
        [2, 2, 1],
        [3, 1, 1],
        [4, 2, 1],
        [5, 1, 2],
        [6, 1, 3],
        [7, 1, 3],
      ])
      assert.deepEqual(
        (await store.inspect.attempts(of)).map((a) => [a.attempt, a.run]),
        seen.map(([number, , run]) => [number, run]),
      )
      const found = await get(store, of)
      assert.deepEqual([found.attempts, found.run], [7, 3])
    },
  },
]
