/** The way out of the spool: nothing leaves the file before the log has it, and the drain goes on after any failure. */
import { HookonceError, silentLog } from 'hookonce'
import type { RecordVerdict } from 'hookonce/testing/contracts'
import { afterEach, expect, test, vi } from 'vitest'
import { Drain } from '../../dist/spool/drain.js'
import { Circuit } from '../../dist/spool/gate.js'
import { asRow } from '../../dist/spool/row.js'
import { delivery } from '../support/delivery.js'

const verdict: RecordVerdict[] = [{ status: 'recorded', seq: 1, state: 'pending' }]
const away = () => new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const stop of stops.splice(0)) await stop()
})

type Store = (ids: string[]) => RecordVerdict[][] | Promise<RecordVerdict[][]>

/** A drain between a file in memory and a store that does what the test says. `done` is what has happened, in order. */
async function makeDrain(ids: readonly string[], store: Store = (all) => all.map(() => verdict)) {
  const rows = ids.map((id, i) => ({ ...asRow(delivery(id), 1), id: i + 1 }))
  const circuit = new Circuit(silentLog)
  const done: string[] = []
  const aside: typeof rows = []
  const told = {
    ...{ canRead: true, canLock: true, canProbe: true, canRemove: true },
    ...{ locks: 0, probes: 0, looks: 0, due: 0 },
  }
  const file = {
    async waiting() {
      told.looks++
      if (!told.canRead) throw new Error('damaged')
      return [{ source: 'shop', depth: rows.length, setAside: aside.length }]
    },
    isDue: async () => told.due > 0 && aside.length > 0,
    takeDue: async () => (told.due-- > 0 ? (aside[0] ?? null) : null),
    postpone: async ({ id, code }: { id: number; code: string }) =>
      void done.push(`postponed ${id}: ${code}`),
    removeSetAside: async ({ id }: { id: number }) => {
      aside.splice(0, 1)
      done.push(`removed ${id}`)
    },
    async lock() {
      if (told.canLock) told.locks++
      return told.canLock
    },
    unlock: async () => void told.locks--,
    take: async ({ after, limit }: { after: number; limit: number }) =>
      rows.filter(({ id }) => id > after).slice(0, limit),
    async remove(gone: { done: number[]; setAside: { id: number; code: string }[] }) {
      if (!told.canRemove) throw new Error('the disk is full')
      const take = (id: number) =>
        rows.splice(
          rows.findIndex((row) => row.id === id),
          1,
        )
      for (const id of gone.done) take(id)
      for (const { id } of gone.setAside) aside.push(...take(id))
      const setAside = gone.setAside.map(({ id, code }) => `, ${id} aside: ${code}`)
      done.push(`removed ${gone.done.join(' ')}${setAside.join('')}`)
    },
    shrink: async () => void done.push('shrunk'),
  }
  const drain = new Drain({
    file: file as never,
    circuit,
    clock: { now: () => 2 },
    log: silentLog,
    drainTo: {
      async record(deliveries) {
        const own = deliveries.map(({ events }) => events[0]!.id)
        done.push(`record ${own.join(' ')}`)
        return store(own)
      },
    },
    async probe() {
      told.probes++
      if (!told.canProbe) throw away()
      return 1_700_000_000_000
    },
    drained: (deliveries, verdicts) => void done.push(`told ${deliveries.length} ${verdicts.length}`),
  })
  stops.push(() => drain.stop(1_000))
  return { drain, circuit, done, told, rows, aside }
}

test('a row of which the log has only some events stays in the spool', async () => {
  const refused: RecordVerdict = { status: 'refused', code: 'STORE_BUSY', detail: 'told so' }
  const { done, drain } = await makeDrain(['a', 'b'], (all) =>
    all.map((id) => (id === 'a' ? [...verdict, refused] : verdict)),
  )
  drain.start()
  await vi.waitFor(() => expect(done).toContain('removed 2, 1 aside: STORE_BUSY'))
})

test('the deliveries are recorded, then removed, then told, and the lock is given back', async () => {
  const { drain, done, told, rows } = await makeDrain(['a', 'b'])
  drain.start()
  await expect.poll(() => done).toEqual(['record a b', 'removed 1 2', 'told 2 2', 'shrunk'])
  await expect.poll(() => [told.locks, drain.running]).toEqual([0, false])
  expect(rows).toEqual([])
  expect(drain.problem).toBeNull()
})

test('it does nothing before its start and after its stop', async () => {
  const { drain, told } = await makeDrain(['a'])
  drain.wake()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(told.looks).toBe(0)
  await drain.stop(1_000)
  drain.start()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(told.looks).toBe(0)
})

test('a store that fails keeps everything in the file, and the drain tries again with one delivery', async () => {
  let failures = 2
  const wasAway: boolean[] = []
  const { drain, circuit, done } = await makeDrain(['a', 'b', 'c'], (ids) => {
    wasAway.push(circuit.storeAway)
    if (failures-- > 0) throw away()
    return ids.map(() => verdict)
  })
  drain.start()
  await expect.poll(() => done.at(-1)).toBe('shrunk')
  expect(wasAway.slice(0, 3)).toEqual([false, true, true])
  expect(done).toEqual([
    'record a b c',
    'record a',
    'record a',
    'removed 1',
    'told 1 1',
    'record b c',
    'removed 2 3',
    'told 2 2',
    'shrunk',
  ])
  expect(circuit.storeAway).toBe(false)
})

test('a delivery that the store refuses is set aside, and only that one', async () => {
  const refused: RecordVerdict[] = [{ status: 'refused', code: 'INVALID_INPUT', detail: 'x' } as never]
  const { drain, done } = await makeDrain(['a', 'b', 'c'], (ids) =>
    ids.map((id) => (id === 'b' ? refused : verdict)),
  )
  drain.start()
  await expect.poll(() => done).toContain('removed 1 3, 2 aside: INVALID_INPUT')
})

test('stop waits for the round under way', async () => {
  let finish = () => {}
  const { drain, done } = await makeDrain(['a'], (ids) => {
    return new Promise((resolve) => (finish = () => resolve(ids.map(() => verdict))))
  })
  drain.start()
  await expect.poll(() => done).toEqual(['record a'])
  expect(drain.running).toBe(true)
  let stopped = false
  const stopping = drain.stop(60_000).then(() => {
    stopped = true
  })
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve))
  expect(stopped).toBe(false)
  finish()
  await stopping
  expect(done).toEqual(['record a', 'removed 1', 'told 1 1'])
})

test('a spool that is empty, or drained by another process, opens the way to the store when it is back', async () => {
  for (const ids of [[], ['a']]) {
    const { drain, circuit, told, done } = await makeDrain(ids)
    told.canLock = false
    told.canProbe = false
    circuit.trip(away())
    drain.start()
    await expect.poll(() => told.probes).toBeGreaterThan(1)
    expect(circuit.storeAway).toBe(true)
    told.canProbe = true
    await expect.poll(() => circuit.storeAway).toBe(false)
    expect(done).toEqual([])
  }
})

test('another process that drains is replaced when it lets go of the lock', async () => {
  const { drain, told, done } = await makeDrain(['a'])
  told.canLock = false
  drain.start()
  await expect.poll(() => told.looks).toBeGreaterThan(0)
  told.canLock = true
  await expect.poll(() => done.at(-1)).toBe('shrunk')
})

test('a spool that cannot be read is told, opens the way to the store, and is tried again', async () => {
  const { drain, circuit, told, done } = await makeDrain(['a'])
  told.canRead = false
  circuit.trip(away())
  drain.start()
  await expect.poll(() => drain.problem).toBe('damaged')
  await expect.poll(() => circuit.storeAway).toBe(false)
  told.canRead = true
  await expect.poll(() => done.at(-1)).toBe('shrunk')
  await expect.poll(() => drain.problem).toBeNull()
})

test('a delivery that cannot be read is set aside, and those behind it are recorded', async () => {
  const { drain, done, rows } = await makeDrain(['a', 'b'])
  Object.assign(rows[0]!, { block: new Uint8Array(4) })
  drain.start()
  await expect
    .poll(() => done)
    .toEqual(['record b', 'removed 2, 1 aside: SPOOL_FAILED', 'told 1 1', 'shrunk'])
})

test('a delivery whose insert fails is found in its batch and set aside, and retried until it is recorded', async () => {
  let isBroken = true
  const { drain, circuit, done, told, aside } = await makeDrain(['a', 'b', 'c'], (ids) => {
    if (isBroken && ids.includes('b')) throw new HookonceError('STORE_FAILED', { problem: 'told so' })
    return ids.map(() => verdict)
  })
  drain.start()
  await expect.poll(() => done.at(-1)).toBe('shrunk')
  expect(done).toEqual([
    ...['record a b c', 'record a', 'record b', 'record c'],
    ...['removed 1 3, 2 aside: STORE_FAILED', 'told 2 2', 'shrunk'],
  ])
  expect(circuit.storeAway).toBe(false)
  told.due = 1
  await expect.poll(() => done).toContain('postponed 2: STORE_FAILED')
  isBroken = false
  told.due = 1
  await expect.poll(() => aside).toEqual([])
  expect(done).toContain('removed 2')
})

test('a delivery that breaks the connection each time is set aside while the store answers', async () => {
  const { drain, done, aside } = await makeDrain(['a', 'b'], (ids) => {
    if (ids.includes('a')) throw away()
    return ids.map(() => verdict)
  })
  drain.start()
  await expect.poll(() => aside).toHaveLength(1)
  await expect.poll(() => done).toContain('removed 2')
})

test('a store that does not answer is no reason to set a delivery aside', async () => {
  const { drain, aside, told, circuit } = await makeDrain(['a'], () => {
    told.canProbe = false
    throw new HookonceError('STORE_FAILED', { problem: 'told so' })
  })
  drain.start()
  await expect.poll(() => circuit.storeAway).toBe(true)
  await expect.poll(() => told.probes).toBeGreaterThan(3)
  expect(aside).toEqual([])
})

test('deliveries that the file cannot remove are recorded once, and those behind them too', async () => {
  const { drain, done, told, rows } = await makeDrain(Array.from({ length: 300 }, (_, i) => `e${i}`))
  told.canRemove = false
  drain.start()
  await expect.poll(() => drain.problem).toBe('the disk is full')
  const looks = told.looks
  await expect.poll(() => told.looks).toBeGreaterThan(looks + 1)
  expect(done.filter((step) => step.startsWith('record'))).toHaveLength(2)
  expect(rows).toHaveLength(300)
  told.canRemove = true
  await expect.poll(() => rows).toEqual([])
})

test('wake drains at once what has come since, but not while the store is away', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { drain, circuit, done, told, rows } = await makeDrain([])
  drain.start()
  await vi.advanceTimersByTimeAsync(0)
  expect(told.looks).toBe(1)
  rows.push({ ...asRow(delivery('a'), 1), id: 1 })
  drain.wake()
  drain.start() // a second call changes nothing
  await vi.advanceTimersByTimeAsync(0)
  expect(done.at(-1)).toBe('shrunk')
  expect(told.looks).toBe(2)
  circuit.trip(away())
  drain.wake()
  await vi.advanceTimersByTimeAsync(999)
  expect(told.looks).toBe(2)
  await vi.advanceTimersByTimeAsync(1) // the next look was due then anyway
  expect(told.looks).toBe(3)
})

test('while the store is away the waits grow from 100 ms to 2 s, and are short again after it was back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5) // the middle of the jitter
  try {
    const { drain, circuit, told } = await makeDrain([])
    told.canProbe = false
    circuit.trip(away())
    const nextLook = async (waitMs: number) => {
      const { looks } = told
      await vi.advanceTimersByTimeAsync(waitMs - 1)
      expect(told.looks).toBe(looks)
      await vi.advanceTimersByTimeAsync(1)
      expect(told.looks).toBe(looks + 1)
    }
    drain.start()
    await vi.advanceTimersByTimeAsync(0)
    for (const waitMs of [100, 200, 400, 800, 1_600, 2_000, 2_000]) await nextLook(waitMs)
    told.canProbe = true
    await nextLook(2_000)
    circuit.trip(away())
    told.canProbe = false
    await nextLook(1_000)
    await nextLook(100)
    random.mockReturnValue(0)
    await nextLook(200)
    await nextLook(300) // 0.75 of 400
  } finally {
    random.mockRestore()
  }
})
