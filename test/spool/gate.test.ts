/** The way into the spool: what goes to the store, what goes to the spool, in which order, and what the sender hears. */
import { HookonceError, silentLog } from 'hookonce'
import type { NewDelivery, RecordVerdict } from 'hookonce/testing/contracts'
import { expect, test } from 'vitest'
import { Circuit, isForTheSpool, spoolGate } from '../../dist/spool/gate.js'
import { asDelivery, type SpoolRow } from '../../dist/spool/row.js'
import { delivery } from '../support/delivery.js'

const from = (source: string, eventId: string): NewDelivery => ({ ...delivery(eventId), source })
const unavailable = () => new HookonceError('STORE_UNAVAILABLE', { problem: 'told so' })
const verdict: RecordVerdict[] = [{ status: 'recorded', seq: 1, state: 'pending' }]

/** A gate between a store and a spool file that do what the test says. */
function makeGate(given: {
  depths?: () => readonly (readonly [source: string, depth: number])[] | Promise<never>
  store?: (ids: string[]) => RecordVerdict[][] | Promise<RecordVerdict[][]>
  put?: (rows: readonly SpoolRow[]) => boolean[] | Promise<boolean[]>
  afterMs?: number
  canWrite?: () => boolean
}) {
  const circuit = new Circuit(silentLog)
  const seen = {
    stored: [] as string[][],
    spooled: [] as string[][],
    wrote: [] as (number | HookonceError | null)[],
    woken: 0,
  }
  const file = {
    waiting: async () => (await (given.depths?.() ?? [])).map(([source, depth]) => ({ source, depth })),
    async put(rows: readonly SpoolRow[]) {
      const deliveries = rows.map((row) => asDelivery(row, 0))
      seen.spooled.push(deliveries.map(({ events }) => events[0]!.id))
      return given.put?.(rows) ?? rows.map(() => true)
    },
  }
  const record = spoolGate({
    file: file as never,
    circuit,
    clock: { now: () => 1_700_000_000_000 },
    maxBytes: 1e6,
    afterMs: given.afterMs ?? 10_000,
    next: {
      async record(deliveries: readonly NewDelivery[]) {
        const ids = deliveries.map(({ events }) => events[0]!.id)
        seen.stored.push(ids)
        return given.store?.(ids) ?? ids.map(() => verdict)
      },
    },
    spooled: () => void seen.woken++,
    canWrite: given.canWrite ?? (() => true),
    wrote: (failed) => void seen.wrote.push(failed),
  })
  return { circuit, record, seen }
}

test('a batch that goes straight to the spool does not overtake a batch that waits for the drain', async () => {
  const { circuit, record, seen } = makeGate({ depths: () => [['shop', 600]] })
  const first = record([delivery('a')]) // waits, because 600 deliveries are ahead of it
  await new Promise((resolve) => setTimeout(resolve, 5))
  circuit.trip(new Error('the store is away'))
  const second = record([delivery('b')])
  expect(await Promise.all([first, second])).toEqual([['spooled'], ['spooled']])
  expect(seen.spooled).toEqual([['a'], ['b']])
})

test('with nothing in the spool a batch goes to the store, and each delivery has its own verdict', async () => {
  const other: RecordVerdict[] = [{ status: 'replayed' }]
  const { record, seen } = makeGate({ store: () => [verdict, other] })
  expect(await record([delivery('a'), delivery('b')])).toEqual([verdict, other])
  expect(seen).toEqual({ stored: [['a', 'b']], spooled: [], wrote: [], woken: 0 })
})

test('what the store cannot take is spooled, and what comes next does not ask it', async () => {
  const { circuit, record, seen } = makeGate({ store: () => Promise.reject(unavailable()) })
  expect(await record([delivery('a'), delivery('b')])).toEqual(['spooled', 'spooled'])
  expect(circuit.storeAway).toBe(true)
  expect(await record([delivery('c')])).toEqual(['spooled'])
  expect(seen).toEqual({ stored: [['a', 'b']], spooled: [['a', 'b'], ['c']], wrote: [null, null], woken: 2 })
  circuit.reset()
  expect([circuit.storeAway, circuit.lastError]).toEqual([false, null])
})

test('a commit that does not end in time is spooled', async () => {
  const { circuit, record, seen } = makeGate({ store: () => new Promise(() => {}), afterMs: 20 })
  expect(await record([delivery('a')])).toEqual(['spooled'])
  expect(seen.spooled).toEqual([['a']])
  expect(circuit.lastError).toMatch(/20 ms/)
})

test.each([
  ['INVALID_INPUT', false],
  ['STORE_CLOSED', false],
  ['STORE_URL', false],
  ['DRIVER_MISSING', false],
  ['STORE_UNAVAILABLE', true],
  ['STORE_BUSY', true],
  ['COMMIT_UNKNOWN', true],
] as const)('an error of the store with the code %s is spooled: %s', async (code, isSpooled) => {
  const error = new HookonceError(code, {} as never)
  expect(isForTheSpool(error)).toBe(isSpooled)
  const { circuit, record, seen } = makeGate({ store: () => Promise.reject(error) })
  const answer = record([delivery('a')])
  if (isSpooled) expect(await answer).toEqual(['spooled'])
  else await expect(answer).rejects.toBe(error)
  expect(seen.spooled).toHaveLength(isSpooled ? 1 : 0)
  expect(circuit.storeAway).toBe(isSpooled)
})

test('an error that is not ours is not hidden in the spool', async () => {
  const { record, seen } = makeGate({ store: () => Promise.reject(new TypeError('a bug')) })
  await expect(record([delivery('a')])).rejects.toThrow('a bug')
  expect(seen.spooled).toEqual([])
})

test('only sources with deliveries in the spool are spooled behind them', async () => {
  const { record, seen } = makeGate({ depths: () => [['busy', 501]] })
  const all = await record([from('busy', 'a'), from('free', 'b'), from('busy', 'c')])
  expect(all).toEqual(['spooled', verdict, 'spooled'])
  expect(seen).toEqual({ stored: [['b']], spooled: [['a', 'c']], wrote: [null], woken: 1 })
})

test('behind a short queue a batch waits for the drain, wakes it, and goes to the store after it', async () => {
  const left = [500, 500, 1, 0]
  const { record, seen } = makeGate({ depths: () => [['shop', left.shift() ?? 0]] })
  expect(await record([delivery('a')])).toEqual([verdict])
  expect(seen).toEqual({ stored: [['a']], spooled: [], wrote: [], woken: 2 })
})

test('behind a short queue that does not end, a batch is spooled', async () => {
  const { record, seen } = makeGate({ depths: () => [['shop', 1]] })
  expect(await record([delivery('a')])).toEqual(['spooled'])
  expect(seen.stored).toEqual([])
})

test('the longest queue of a batch counts, so that no source of it is overtaken', async () => {
  let short = 1
  const { record, seen } = makeGate({
    depths: () => [
      ['short', short--], // is empty at the second look
      ['long', 501],
    ],
  })
  expect(await record([from('short', 'a'), from('long', 'b')])).toEqual(['spooled', 'spooled'])
  expect(seen.stored).toEqual([])
})

test('a batch that may go to the store waits for the batch before it, also when that one fails', async () => {
  let fail = (_: Error) => {}
  const left = [1, 0, 1, 0]
  const { record, seen } = makeGate({
    depths: () => [['shop', left.shift() ?? 0]],
    store: (ids) => (ids[0] === 'a' ? new Promise((_, reject) => (fail = reject)) : ids.map(() => verdict)),
  })
  const first = record([delivery('a')])
  await expect.poll(() => seen.stored).toEqual([['a']])
  const second = record([delivery('b')])
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  expect(seen.stored).toEqual([['a']])
  fail(new TypeError('a bug'))
  await expect(first).rejects.toThrow('a bug')
  expect(await second).toEqual([verdict])
})

test('a spool file that cannot be read does not keep deliveries from the store', async () => {
  const { record } = makeGate({ depths: () => Promise.reject(new Error('damaged')) })
  expect(await record([delivery('a')])).toEqual([verdict])
})

test('a delivery for which the spool has no room is refused, and its neighbours are kept', async () => {
  const { circuit, record, seen } = makeGate({ put: (rows) => rows.map((_, i) => i !== 0) })
  circuit.trip(unavailable())
  const [a, b, c] = await record([delivery('a'), delivery('b'), delivery('c')])
  expect([b, c]).toEqual(['spooled', 'spooled'])
  expect(a).toMatchObject({ code: 'SPOOL_FULL' })
  expect(seen.wrote).toEqual([expect.any(Number)])
  expect(seen.wrote[0]).toBeGreaterThan(0)
})

test.each([
  ['the file says why', new HookonceError('SPOOL_FAILED', { path: 'x', problem: 'y' })],
  ['it does not', new RangeError('no memory')],
])('a delivery that is neither in the store nor in the spool is refused: %s', async (_, error) => {
  const { circuit, record, seen } = makeGate({
    store: () => Promise.reject(unavailable()),
    put: () => Promise.reject(error),
  })
  circuit.trip(unavailable())
  const results = await record([delivery('a'), delivery('b')])
  expect(results).toMatchObject([{ code: 'SPOOL_FAILED' }, { code: 'SPOOL_FAILED' }])
  expect(results.every((one) => one instanceof HookonceError)).toBe(true)
  expect(seen.wrote).toMatchObject([{ code: 'SPOOL_FAILED' }])
})

test('a delivery that the spool cannot take goes to the store, which may be back', async () => {
  const error = new HookonceError('SPOOL_FAILED', { path: 'x', problem: 'its disk is full' })
  const { circuit, record, seen } = makeGate({ put: () => Promise.reject(error) })
  circuit.trip(unavailable())
  expect(await record([delivery('a'), delivery('b')])).toEqual([verdict, verdict])
  expect(seen.stored).toEqual([['a', 'b']])
  expect(circuit.storeAway).toBe(false)
})

test('while the spool cannot be written, the store comes first, also for a source with spooled deliveries', async () => {
  let away = false
  const { circuit, record, seen } = makeGate({
    canWrite: () => false,
    depths: () => [['shop', 501]],
    store: (ids) => (away ? Promise.reject(unavailable()) : ids.map(() => verdict)),
  })
  circuit.trip(unavailable())
  expect(await record([delivery('a')])).toEqual([verdict])
  away = true
  expect(await record([delivery('b')])).toEqual(['spooled'])
  expect(seen).toMatchObject({ stored: [['a'], ['b']], spooled: [['b']] })
})
