/** The fold of a batch for PostgreSQL, as plain functions: no event of the batch may be left out, doubled or misplaced. */
import fc from 'fast-check'
import type { NewDelivery, NewEvent } from 'hookonce'
import { describe, expect, test } from 'vitest'
import { contestedId, tombstoneOf } from '#dist/model.js'
import {
  type BatchEvent,
  foldBatch,
  inGuardOrder,
  isPlain,
  newBatch,
  parameters,
  plainParameters,
  sameContent,
} from '#dist/stores/postgres/record-batch.js'

const hash = (n: number | null) => (n === null ? null : new Uint8Array(32).fill(n))

interface Shape {
  readonly id: string
  readonly content?: number | null
  readonly guard?: number | null
  readonly lane?: string
}

const event = ({ id, content = null, guard = null, lane }: Shape): NewEvent => ({
  eventId: id,
  eventType: `type of ${id}`,
  reference: `reference of ${id}`,
  contentHash: hash(content),
  guardHash: hash(guard),
  ...(lane !== undefined && { lane }),
})

const delivery = (source: string, ...events: Shape[]): NewDelivery => ({
  source,
  headers: { 'x-from': source },
  body: Buffer.from(`${source} ${events.map(({ id }) => id).join(' ')}`),
  events: events.map(event),
  onReplayedContent: 'review',
})

const names = (events: readonly BatchEvent[]) =>
  events.map(({ source, event: { eventId }, delivery, index }) => `${source}/${eventId} ${delivery}.${index}`)

describe('foldBatch', () => {
  test('the first event of a key is taken, and a repeat points to it', () => {
    const { firsts, repeats } = foldBatch([
      delivery('a', { id: '1' }, { id: '2' }, { id: '1' }),
      delivery('b', { id: '1' }),
      delivery('a', { id: '3' }, { id: '2' }),
    ])
    expect(names(firsts)).toEqual(['a/1 0.0', 'a/2 0.1', 'b/1 1.0', 'a/3 2.0'])
    expect(names(repeats)).toEqual(['a/1 0.2', 'a/2 2.1'])
    expect(repeats.map(({ first }) => first)).toEqual([0, 1])
  })

  test('a delivery that is left out is neither a first nor a repeat', () => {
    const batch = [delivery('a', { id: '1' }), delivery('a', { id: '1' }), delivery('a', { id: '2' })]
    const { firsts, repeats } = foldBatch(batch, (at) => at === 0)
    expect(names(firsts)).toEqual(['a/1 1.0', 'a/2 2.0'])
    expect(repeats).toEqual([])
  })
})

describe('inGuardOrder', () => {
  const order = (...batch: NewDelivery[]) => inGuardOrder(foldBatch(batch)).map(({ firsts }) => names(firsts))

  test('a first waits for an earlier repeat that has its signed content and other content than its own first', () => {
    const taken = delivery('a', { id: '1', content: 1, guard: 1 })
    const contests = delivery('a', { id: '1', content: 2, guard: 2 })
    const later = delivery('a', { id: '2', content: 2, guard: 2 })
    expect(order(taken, contests, later)).toEqual([['a/1 0.0'], ['a/2 2.0']])
    // Before the repeat, it is the original.
    expect(order(taken, later, contests)).toEqual([['a/1 0.0', 'a/2 1.0']])
    // The source is a part of it, and so are the places within one delivery.
    expect(order(taken, contests, delivery('b', { id: '2', content: 2, guard: 2 }))).toHaveLength(1)
    const events = [taken, contests, later].map(({ events: [own] }) => own!)
    expect(order({ ...taken, events })).toEqual([['a/1 0.0'], ['a/2 0.2']])
    expect(order({ ...taken, events: [events[0]!, events[2]!, events[1]!] })).toHaveLength(1)
  })

  test('a repeat of the same content, and one without a guard, let nobody wait', () => {
    const taken = delivery('a', { id: '1', content: 1, guard: 1 })
    expect(order(taken, taken, delivery('a', { id: '2', content: 1, guard: 1 }))).toHaveLength(1)
    const open = (id: string, content: number) => delivery('a', { id, content })
    expect(order(open('1', 1), open('1', 2), open('2', 2))).toHaveLength(1)
    expect(order()).toEqual([])
  })

  const events = fc.record({
    id: fc.constantFrom('1', '2', '3', '4'),
    content: fc.constantFrom(1, 2, 3),
    guard: fc.constantFrom(null, 1, 2, 3),
  })
  const deliveries = fc
    .tuple(fc.constantFrom('a', 'b'), fc.array(events, { minLength: 1, maxLength: 3 }))
    .map(([source, shapes]) => delivery(source, ...shapes))

  test('every event of any batch is in one portion, with its first, and behind the repeat it waits for', () => {
    fc.assert(
      fc.property(fc.array(deliveries, { maxLength: 10 }), (batch) => {
        const whole = foldBatch(batch)
        const portions = inGuardOrder(whole)
        const sorted = (all: readonly BatchEvent[]) => names(all).sort()
        expect(sorted(portions.flatMap(({ firsts }) => firsts))).toEqual(sorted(whole.firsts))
        expect(sorted(portions.flatMap(({ repeats }) => repeats))).toEqual(sorted(whole.repeats))
        const at = new Map<string, number>()
        for (const [i, { firsts, repeats }] of portions.entries()) {
          const places = [...firsts].sort((a, b) => a.delivery - b.delivery || a.index - b.index)
          expect(names(firsts)).toEqual(names(places))
          for (const one of repeats) {
            const first = firsts[one.first]!
            expect([first.source, first.event.eventId]).toEqual([one.source, one.event.eventId])
          }
          for (const one of [...firsts, ...repeats]) at.set(names([one])[0]!, i)
        }
        for (const repeat of whole.repeats) {
          const own = whole.firsts[repeat.first]!
          if (repeat.event.guardHash === null || contestedId(repeat.event) === contestedId(own.event))
            continue
          for (const first of whole.firsts) {
            if (first.source !== repeat.source || first.event.guardHash?.[0] !== repeat.event.guardHash[0])
              continue
            const isLater = first.delivery - repeat.delivery || first.index - repeat.index
            // Only the first of a contested key can wait for its own sake too, and it is before its repeats.
            if (isLater > 0) expect(at.get(names([first])[0]!)).toBeGreaterThan(at.get(names([repeat])[0]!)!)
          }
        }
      }),
      { numRuns: 500 },
    )
  })
})

test('contents are equal unless both have a hash and the hashes differ', () => {
  expect(sameContent(hash(1), hash(1))).toBe(true)
  expect(sameContent(hash(1), hash(2))).toBe(false)
  expect(sameContent(null, hash(2))).toBe(true)
  expect(sameContent(hash(1), null)).toBe(true)
})

describe('the parameters of a statement', () => {
  const item = (from: NewDelivery, index = 0) => ({
    source: from.source,
    event: from.events[index]!,
    delivery: 0,
    index,
    from,
  })

  test('plain is an event that is alone in its delivery, without a guard and without a lane', () => {
    expect(isPlain(item(delivery('a', { id: '1', content: 1 })))).toBe(true)
    expect(isPlain(item(delivery('a', { id: '1', guard: 1 })))).toBe(false)
    expect(isPlain(item(delivery('a', { id: '1', lane: 'x' })))).toBe(false)
    expect(isPlain(item(delivery('a', { id: '1' }, { id: '2' })))).toBe(false)
  })

  test('each batch has a number of its own that fits a bigint', () => {
    const numbers = Array.from({ length: 100 }, newBatch)
    expect(new Set(numbers).size).toBe(100)
    for (const number of numbers) expect(BigInt.asIntN(64, BigInt(number))).toBe(BigInt(number))
  })

  test('the bodies of all deliveries are joined once each, and each event points to its own', () => {
    const one = { ...delivery('a', { id: '1', content: 1 }, { id: '2', guard: 2 }), receivedAt: 5 }
    const two = delivery('b', { id: '3', lane: 'x' })
    const three = { ...delivery('c', { id: '4', content: 4 }), receivedAt: 8 }
    /** Hashes by their first bytes; all are 32 bytes long. */
    const bytes = (value: unknown) =>
      !Buffer.isBuffer(value) || value.length % 32 !== 0
        ? value
        : Array.from({ length: value.length / 32 }, (_, i) => value[i * 32])
    const removed = (...all: NewDelivery[]) =>
      all.flatMap(({ events }) => events.map((own) => tombstoneOf(own.eventId, own.contentHash)[0]))

    expect(parameters([item(one), item(one, 1), item(two)], new Map([[two, 7]]), '9').map(bytes)).toEqual([
      '{"a","a","b"}',
      '{"1","2","3"}',
      '{"type of 1","type of 2","type of 3"}',
      '{"reference of 1","reference of 2","reference of 3"}',
      '{0,1,0}',
      '{1,1,2}',
      '{NULL,NULL,7}',
      [1, 0, 0],
      '{true,false,false}',
      [0, 2, 0],
      '{false,true,false}',
      '{5,NULL}',
      '{"{\\"x-from\\":\\"a\\"}","{\\"x-from\\":\\"b\\"}"}',
      '{"review","review"}',
      '{1,6}',
      '{5,3}',
      Buffer.from('a 1 2b 3'),
      '9',
      '{NULL,NULL,"x"}',
      `{NULL,"${contestedId(one.events[1]!)}",NULL}`,
      removed(one, two),
    ])
    expect(plainParameters([item(two), item(three)], '9').map(bytes)).toEqual([
      '{"b","c"}',
      '{"3","4"}',
      '{"type of 3","type of 4"}',
      '{"reference of 3","reference of 4"}',
      '{"{\\"x-from\\":\\"b\\"}","{\\"x-from\\":\\"c\\"}"}',
      '{NULL,8}',
      '{1,4}',
      '{3,3}',
      Buffer.from('b 3c 4'),
      [0, 4],
      '{false,true}',
      removed(two, three),
      '9',
    ])
  })
})
