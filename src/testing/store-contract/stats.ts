/** Statistics: the counts agree with the log after any sequence of calls. */
import assert from 'node:assert/strict'
import type { EventRecord, SourceStats } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import { fillSample } from './situations.js'
import {
  attempt,
  type ContractCase,
  claim,
  claimEvent,
  dead,
  delivery,
  failedFor,
  get,
  ignored,
  key,
  LEASE_MS,
  listAll,
  operate,
  pick,
  random,
  range,
  record,
  recordEvent,
  settle,
  succeeded,
} from './support.js'

type Counts = Omit<SourceStats, 'oldestDueAt'>

function count(log: readonly EventRecord[]): Counts[] {
  return [...new Set(log.map((e) => e.source))].sort().map((source) => {
    const own = log.filter((e) => e.source === source)
    const of = (matches: (e: EventRecord) => boolean) => own.filter(matches).length
    return {
      source,
      recorded: own.length,
      pending: of((e) => e.state === 'pending'),
      processing: of((e) => e.state === 'processing'),
      retrying: of((e) => e.state === 'failed' && e.nextAttemptAt !== null),
      succeeded: of((e) => e.state === 'succeeded'),
      ignored: of((e) => e.state === 'ignored'),
      dead: of((e) => e.state === 'failed' && e.nextAttemptAt === null),
    }
  })
}

export async function statsAgree(store: CompleteStore): Promise<void> {
  const stats = (await store.stats()).map(({ oldestDueAt: _, ...counts }) => counts)
  assert.deepEqual(stats, count(await listAll(store)))
}

export const statsCases: readonly ContractCase[] = [
  {
    name: 'the statistics of an empty log are empty',
    async run({ open }) {
      assert.deepEqual(await (await open()).stats(), [])
    },
  },
  {
    name: 'the statistics are by source, by name, and agree with the log',
    async run(harness) {
      const store = await harness.open()
      await fillSample(store, harness, 150)
      await statsAgree(store)
      await harness.advance(1_000 * LEASE_MS)
      await statsAgree(store)
    },
  },
  {
    name: 'a duplicate, a conflict and a refused delivery are not counted as recorded',
    async run({ open }) {
      const store = await open()
      await record(store, delivery('a'), delivery('a'), delivery(''))
      await record(store, delivery('a'))
      assert.equal((await store.stats())[0]?.recorded, 1)
    },
  },
  {
    name: '`oldestDueAt` is the due time of the event that has waited longest for a worker',
    async run({ open, advance }) {
      const store = await open()
      const oldest = async () => (await store.stats())[0]?.oldestDueAt ?? null
      const first = await get(store, await recordEvent(store, 'first'))
      await advance(1_000)
      await recordEvent(store, 'second')
      near(await oldest(), first.receivedAt)
      const { lease } = await claimEvent(store, key('first'))
      near(await oldest(), first.receivedAt + 1_000)
      await attempt(store, key('second'), succeeded)
      assert.equal(await oldest(), null, 'a leased event does not wait')
      await settle(store, lease, failedFor(60_000))
      assert.equal(await oldest(), null, 'one that is not due does not wait')
      await advance(60_001)
      near(await oldest(), first.receivedAt + 61_000)
      await claimEvent(store, key('first'), { leaseMs: 5_000 })
      await advance(5_001)
      near(await oldest(), first.receivedAt + 66_001)
    },
  },
  {
    name: 'after a random mix of moves by several workers at once the statistics still agree with the log',
    needs: ['inspect'],
    async run({ open, advance }) {
      const stores = [await open(), await open()]
      const next = random(99)
      const keys = range(60).map((i) => key(`e${i}`, `s${i % 3}`))
      await record(stores[0]!, ...keys.map(({ source, id }) => delivery(id, { source })))
      for (const round of range(12)) {
        await Promise.all(
          range(8).map(async (n) => {
            const store = stores[n % 2]!
            const of = pick(next, keys)
            const kind = Math.floor(next() * 8)
            if (kind === 0) await operate(store, 'retry', of)
            else if (kind === 1) await operate(store, 'replay', of, { force: true })
            else if (kind === 2) await operate(store, 'ignore', of)
            else if (kind === 3) await record(store, delivery(of.id, { source: of.source }))
            else {
              const claimed = await claim(store, { limit: 3, worker: `w${n}` })
              const leases = claimed.map((c) => c.lease)
              if (kind === 4) await store.release(leases)
              else if (kind === 5) return
              else {
                const outcome = pick(next, [succeeded, ignored, dead, failedFor(0), failedFor(5_000)])
                await store.settle(leases.map((lease) => ({ lease, outcome, durationMs: 1 })))
              }
            }
          }),
        )
        if (round % 3 === 2) await advance(LEASE_MS + 1)
      }
      await statsAgree(stores[0]!)
      for (const of of keys) {
        const found = await get(stores[0]!, of)
        const attempts = await stores[0]!.inspect.attempts(of)
        const numbers = attempts.map((a) => a.attempt)
        assert.deepEqual(
          numbers,
          range(numbers.length).map((i) => i + 1),
          'attempts are numbered without gaps',
        )
        // The last attempt may still run, or be lost without a row yet (the next claim writes it).
        assert.ok([numbers.length, numbers.length + 1].includes(found.attempts))
      }
    },
  },
]

function near(actual: number | null, expected: number): void {
  const difference = (actual ?? Number.NaN) - expected
  assert.ok(difference >= -50 && difference < 25_000, `${actual} is about ${expected}`)
}
