/** Claiming: due events in order, a fair share for each source, each event for one worker only. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { limits } from '../../model.js'
import {
  attempt,
  bytes,
  type ContractCase,
  cannotClaim,
  claim,
  claimEvent,
  delivery,
  event,
  failedFor,
  get,
  key,
  LEASE_MS,
  openSeveral,
  range,
  record,
  recordEvent,
  SOURCE,
  succeeded,
} from './support.js'

export const claimCases: readonly ContractCase[] = [
  {
    name: 'a claim returns every field of the event',
    async run({ open }) {
      const store = await open()
      const body = bytes('{"n":1}')
      await record(
        store,
        delivery(event('evt', { type: 'invoice.paid', reference: 'order 7' }), {
          body,
          headers: { 'x-a': 'b' },
        }),
      )
      const found = await get(store, key('evt'))
      const [claimed, ...more] = await claim(store)
      assert.ok(claimed)
      assert.equal(more.length, 0)
      assert.equal(claimed.lease.seq, found.seq)
      assert.equal(claimed.source, SOURCE)
      assert.equal(claimed.id, 'evt')
      assert.equal(claimed.type, 'invoice.paid')
      assert.equal(claimed.reference, 'order 7')
      assert.equal(claimed.receivedAt, found.receivedAt)
      assert.equal(claimed.part, 0)
      assert.deepEqual({ ...claimed.headers }, { 'x-a': 'b' })
      assert.equal(hash(claimed.body), hash(body))
    },
  },
  {
    name: 'events of one delivery that are claimed together share one copy of its bytes; claimed apart, each has them',
    async run({ open }) {
      const store = await open()
      const body = bytes('[1,2,3]')
      await store.record([delivery([event('a'), event('b'), event('c')], { body, headers: { 'x-a': 'b' } })])
      const [first] = await claim(store, { event: key('b') })
      const rest = await claim(store)
      assert.deepEqual(rest.map(({ id }) => id).sort(), ['a', 'c'])
      for (const claimed of [first!, ...rest]) {
        assert.equal(hash(claimed.body), hash(body))
        assert.deepEqual({ ...claimed.headers }, { 'x-a': 'b' })
      }
      assert.ok(rest[0]!.body === rest[1]!.body, 'one copy')
    },
  },
  {
    name: 'a claim returns no more than 32 MiB of bodies, except of one event, and leaves the others as they were',
    async run({ open }) {
      const store = await open()
      const large = Buffer.alloc(limits.claimBytes / 4, 'x')
      const whole = Buffer.alloc(limits.claimBytes + 1, 'y')
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f'])
        await store.record([delivery([event(id)], { body: large })])
      await store.record([delivery([event('whole')], { body: whole })])
      const claims: string[][] = []
      for (let left = 7; left > 0; left -= claims.at(-1)!.length) {
        const claimed = await claim(store, { limit: 10 })
        assert.ok(claimed.length > 0)
        const bytes = claimed.reduce((sum, { body }) => sum + body!.byteLength, 0)
        assert.ok(claimed.length === 1 || bytes <= limits.claimBytes, `${bytes} bytes`)
        assert.deepEqual([...new Set(claimed.map(({ attempt }) => attempt))], [1])
        claims.push(claimed.map(({ id }) => id))
      }
      assert.deepEqual(claims.flat().sort(), ['a', 'b', 'c', 'd', 'e', 'f', 'whole'])
      assert.equal(claims[0]!.length, 4)
    },
  },
  {
    name: 'a claim returns an empty list when no event is due',
    async run({ open }) {
      const store = await open()
      assert.deepEqual(await claim(store), [])
      assert.deepEqual(await claim(store, { sources: ['unknown'] }), [])
      assert.deepEqual(await claim(store, { event: key('unknown') }), [])
      assert.deepEqual(await claim(store, { sources: [] }), [])
    },
  },
  {
    name: 'a claim takes no more than the limit, oldest due first',
    async run({ open, advance }) {
      const store = await open()
      for (const i of range(10)) {
        await recordEvent(store, `e${i}`)
        await advance(10)
      }
      const taken: string[] = []
      for (const limit of [1, 4, 100]) {
        const claimed = await claim(store, { limit })
        assert.ok(claimed.length <= limit)
        taken.push(...claimed.map((c) => c.id))
      }
      assert.deepEqual(
        taken,
        range(10).map((i) => `e${i}`),
      )
      assert.deepEqual(await claim(store), [])
    },
  },
  {
    name: 'a retried event is due at its next attempt, and comes before events that became due later',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'late')
      await recordEvent(store, 'early')
      await attempt(store, key('late'), failedFor(20_000))
      await attempt(store, key('early'), failedFor(10_000))
      assert.deepEqual(await claim(store), [])
      await advance(15_000)
      await recordEvent(store, 'between')
      await advance(10_000)
      await recordEvent(store, 'last')
      assert.deepEqual(
        (await claim(store)).map((c) => c.id),
        ['early', 'between', 'late', 'last'],
      )
    },
  },
  {
    name: 'an event with an expired lease is due since the end of the lease',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'lost')
      await claimEvent(store, key('lost'), { leaseMs: 10_000 })
      await advance(5_000)
      await recordEvent(store, 'before')
      await advance(10_000)
      await recordEvent(store, 'after')
      assert.deepEqual(
        (await claim(store)).map((c) => c.id),
        ['before', 'lost', 'after'],
      )
    },
  },
  {
    name: 'a source with a long backlog does not delay another source',
    async run({ open, advance }) {
      const store = await open()
      await record(store, ...range(300).map((i) => delivery(`busy ${i}`, { source: 'busy' })))
      await advance(1_000)
      await record(store, ...range(5).map((i) => delivery(`quiet ${i}`, { source: 'quiet' })))
      const claimed = await claim(store, { limit: 20, sources: ['busy', 'quiet'] })
      assert.ok(claimed.length <= 20)
      assert.equal(claimed.filter((c) => c.source === 'quiet').length, 5)
      assert.ok(claimed.filter((c) => c.source === 'busy').length >= 10)
    },
  },
  {
    name: 'a claim leaves the types of `except`, however many are due first, and another claim takes them',
    async run({ open }) {
      const store = await open()
      await record(store, ...range(150).map((i) => delivery(event(`left${i}`, { type: 'refund' }))))
      for (const i of range(5)) await recordEvent(store, `e${i}`)
      await record(store, delivery(event('bank', { type: 'refund' }), { source: 'bank' }))
      const except = [{ source: 'shop', type: 'refund' }]
      const claimed = [
        ...(await claim(store, { limit: 3, except })),
        ...(await claim(store, { limit: 50, except })),
      ]
      assert.deepEqual(claimed.map(({ id }) => id).sort(), ['bank', ...range(5).map((i) => `e${i}`)])
      assert.deepEqual(await claim(store, { except }), [])
      assert.equal((await claim(store, { limit: 200 })).length, 150)
    },
  },
  {
    name: 'a claim with `sources` takes events of those sources only',
    async run({ open }) {
      const store = await open()
      for (const source of ['a', 'b', 'c']) await recordEvent(store, 'evt', { source })
      assert.deepEqual(
        (await claim(store, { sources: ['b'] })).map((c) => c.source),
        ['b'],
      )
      assert.deepEqual(
        (await claim(store, { sources: ['b', 'c'] })).map((c) => c.source),
        ['c'],
      )
      assert.deepEqual(
        (await claim(store)).map((c) => c.source),
        ['a'],
      )
    },
  },
  {
    name: 'one event can be claimed by name, even before its next attempt is due, but not while it is leased or final',
    async run({ open }) {
      const store = await open()
      for (const id of ['x', 'y', 'z']) await recordEvent(store, id)
      await attempt(store, key('y'), failedFor(LEASE_MS))
      const claimed = await claimEvent(store, key('y'))
      assert.deepEqual([claimed.attempt, claimed.tries], [2, 2])
      await cannotClaim(store, key('y'))
      await store.settle([{ lease: claimed.lease, outcome: succeeded, durationMs: 1 }])
      await cannotClaim(store, key('y'))
      await cannotClaim(store, key('x', 'another source'))
      assert.deepEqual(
        (await claim(store)).map((c) => c.id),
        ['x', 'z'],
      )
    },
  },
  {
    name: 'tokens are never used twice',
    async run({ open }) {
      const store = await open()
      await record(store, ...range(50).map((i) => delivery(`e${i}`)))
      const tokens: string[] = []
      for (const _ of range(4)) {
        const leases = (await claim(store)).map((c) => c.lease)
        assert.equal(leases.length, 50)
        tokens.push(...leases.map((l) => l.token))
        await store.release(leases)
      }
      assert.equal(new Set(tokens).size, 200)
    },
  },
  {
    name: 'concurrent workers never get the same event, and get them all',
    async run(harness) {
      const stores = await openSeveral(harness, 3)
      await record(stores[0]!, ...range(400).map((i) => delivery(`e${i}`, { source: `s${i % 4}` })))
      const taken: string[] = []
      await Promise.all(
        range(12).map(async (n) => {
          const sources = n % 2 ? { sources: ['s0', 's1', 's2', 's3'] } : {}
          for (let empty = 0; empty < 3; ) {
            const claimed = await claim(stores[n % 3]!, { limit: 7, worker: `w${n}`, ...sources })
            taken.push(...claimed.map((c) => c.id))
            // A claim may find only rows that others have locked at that moment, so it is repeated before giving up.
            if (claimed.length === 0) empty++
          }
        }),
      )
      taken.push(...(await claim(stores[0]!, { limit: 400 })).map((c) => c.id))
      assert.equal(new Set(taken).size, taken.length, 'nothing was claimed twice')
      assert.equal(taken.length, 400, 'everything was claimed')
    },
  },
  {
    name: 'an event that many workers claim at once goes to one of them',
    async run({ open }) {
      const stores = [await open(), await open()]
      for (const i of range(20)) {
        const of = await recordEvent(stores[0]!, `e${i}`)
        const claims = await Promise.all(
          range(6).map((n) => claim(stores[n % 2]!, { event: of, limit: 1, worker: `w${n}` })),
        )
        assert.equal(claims.flat().length, 1)
      }
    },
  },
]

function hash(body: Uint8Array | null): string | null {
  return body && createHash('sha256').update(body).digest('hex')
}
