/** The leases of a process in virtual time: when they are extended, and when they count as lost. */
import { HookonceError, silentLog } from 'hookonce'
import type { ClaimedEvent, Lease } from 'hookonce/testing/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Counters } from '../../dist/counters.js'
import { Leases } from '../../dist/processing/leases.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const LEASE_MS = 3_000
const claimed = (eventId: string): ClaimedEvent =>
  ({ source: 'shop', id: eventId, lease: { seq: 1, token: eventId } }) as ClaimedEvent

/** `answer`: what the store says to a heartbeat, by default that every lease is alive. */
function makeLeases(leaseMs = LEASE_MS) {
  const told = {
    answer: (tokens: string[]): boolean[] | Promise<boolean[]> => tokens.map(() => true),
  }
  const extended: string[][] = []
  const lost: string[] = []
  const counters = new Counters()
  const store = {
    async extend(leases: readonly Lease[], ms: number) {
      expect(ms).toBe(leaseMs)
      const tokens = leases.map(({ token }) => token)
      extended.push(tokens)
      return told.answer(tokens)
    },
  }
  const leases = new Leases({ store: store as never, counters, log: silentLog }, leaseMs, {
    remove: ({ id }) => void lost.push(id),
  })
  const add = (...ids: string[]) => {
    for (const id of ids) leases.add(claimed(id), performance.now())
  }
  return { leases, told, extended, lost, counters, add }
}

const session = (...ids: string[]) => {
  const aborted: string[] = []
  return {
    claimed: ids.map(claimed),
    abort: (reason: { name: string; code?: string }) => void aborted.push(reason.code ?? reason.name),
    aborted,
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('a lease that was lost while its session ran begins no other session', async () => {
  const { leases, told, add } = makeLeases()
  add('a', 'b')
  const together = session('a', 'b')
  leases.attach(together as never)
  told.answer = (tokens) => tokens.map((token) => token !== 'b')
  await pass(LEASE_MS / 3)
  expect(together.aborted).toEqual(['LEASE_LOST'])
  const [alone, lost] = [session('a'), session('b')]
  leases.attach(alone as never)
  leases.attach(lost as never)
  expect([alone.aborted, lost.aborted]).toEqual([[], ['LEASE_LOST']])
})

test('all leases are extended three times in a lease, those that wait and those that run', async () => {
  const { leases, extended, add } = makeLeases()
  add('a', 'b')
  leases.attach(session('b') as never)
  await pass(LEASE_MS - 1)
  expect(extended).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ])
  leases.drop({ seq: 1, token: 'a' })
  expect([leases.has('a'), leases.has('b')]).toEqual([false, true])
  await pass(1)
  expect(extended.at(-1)).toEqual(['b'])
})

test('a very short lease is not extended more often than every 10 ms', async () => {
  const { extended, add } = makeLeases(3)
  add('a')
  await pass(9)
  expect(extended).toEqual([])
  await pass(1)
  expect(extended).toHaveLength(1)
})

test('the heartbeat begins with the first lease, and ends when there are none', async () => {
  const { leases, extended, add } = makeLeases()
  expect(vi.getTimerCount()).toBe(0)
  add('a', 'b') // a second lease starts no second heartbeat
  expect(vi.getTimerCount()).toBe(1)
  await pass(LEASE_MS)
  expect(extended).toHaveLength(3)
  leases.drop({ seq: 1, token: 'a' })
  leases.drop({ seq: 1, token: 'b' })
  await pass(LEASE_MS)
  expect(vi.getTimerCount()).toBe(0)
  expect(extended).toHaveLength(3) // the store is not asked about nothing
  add('c')
  expect(vi.getTimerCount()).toBe(1)
  leases.endHeartbeat()
  expect(vi.getTimerCount()).toBe(0)
})

test('a lease that the store does not know is lost: the event leaves the buffer, or its session is aborted', async () => {
  const { leases, told, lost, counters, add } = makeLeases()
  const running = session('b')
  add('a', 'b', 'c')
  leases.attach(running as never)
  told.answer = (tokens) => tokens.map((token) => token === 'c')
  await pass(LEASE_MS / 3)
  expect(lost).toEqual(['a'])
  expect(running.aborted).toEqual(['LEASE_LOST'])
  expect(counters.of('shop').leasesLost).toBe(1)
  // The attempt that was aborted drops its lease itself, when it has ended.
  expect([leases.has('a'), leases.has('b'), leases.has('c')]).toEqual([false, true, true])
})

test('an event that has ended while the store was asked is not lost', async () => {
  const { leases, told, lost, add } = makeLeases()
  let answer = (_: boolean[]) => {}
  told.answer = () => new Promise((resolve) => (answer = resolve))
  add('a')
  await pass(LEASE_MS / 3)
  leases.drop({ seq: 1, token: 'a' })
  answer([false])
  await pass(0)
  expect(lost).toEqual([])
})

test('while the store fails a lease counts as alive until it expires, counted from the last question that was answered', async () => {
  const { leases, told, lost, counters, add } = makeLeases()
  const running = session('b')
  add('a', 'b')
  leases.attach(running as never)
  await pass(LEASE_MS / 3) // extended: they expire a whole lease after this
  told.answer = () => Promise.reject(new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' }))
  await pass(LEASE_MS)
  expect([lost, running.aborted]).toEqual([[], []])
  await pass(LEASE_MS / 3)
  expect([lost, running.aborted]).toEqual([['a'], ['LEASE_LOST']])
  expect(counters.of('shop').leasesLost).toBe(1)
})

test('a lease expires while the store does not answer at all', async () => {
  const { leases, told, lost, add } = makeLeases()
  const running = session('b')
  add('a', 'b')
  leases.attach(running as never)
  told.answer = () => new Promise(() => {})
  await pass(LEASE_MS - 1)
  expect([lost, running.aborted]).toEqual([[], []])
  await pass(LEASE_MS / 3 + 1)
  expect([lost, running.aborted]).toEqual([['a'], ['LEASE_LOST']])
})

test('without an answer a lease expires a whole lease after the claim was sent, not after it was answered', async () => {
  const { leases, told, lost } = makeLeases()
  told.answer = () => Promise.reject(new Error('away'))
  const askedAt = performance.now()
  await pass(1_500)
  leases.add(claimed('a'), askedAt)
  await pass(LEASE_MS / 3)
  expect(lost).toEqual([])
  await pass(LEASE_MS / 3)
  expect(lost).toEqual(['a'])
})

test('an event that goes back to the buffer is no longer a part of its session', async () => {
  const { leases, told, lost, add } = makeLeases()
  const running = session('a', 'b')
  add('a', 'b')
  leases.attach(running as never)
  leases.detach([claimed('b'), claimed('unknown')])
  leases.abortAll()
  expect(running.aborted).toEqual(['Stopping']) // by the event that runs, not by the other one
  told.answer = (tokens) => tokens.map((token) => token !== 'b')
  await pass(LEASE_MS / 3)
  expect(lost).toEqual(['b'])
})

test('a session that begins while the process stops is aborted at once, until the process starts again', () => {
  const { leases, add } = makeLeases()
  add('a', 'b')
  leases.abortAll()
  const late = session('a')
  leases.attach(late as never)
  expect(late.aborted).toEqual(['Stopping'])
  leases.allowSessions()
  const later = session('b')
  leases.attach(later as never)
  expect(later.aborted).toEqual([])
})
