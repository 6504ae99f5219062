/** The fold of a batch for PostgreSQL, as plain functions: no event of the batch may be left out, doubled or misplaced. */
import type { NewDelivery, NewEvent } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import {
  type BatchEvent,
  eventsOf,
  fold,
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
  id: id,
  type: `type of ${id}`,
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
  contentGuard: 'review',
})

const names = (events: readonly BatchEvent[]) =>
  events.map(({ from: { source }, event: { id }, delivery, index }) => `${source}/${id} ${delivery}.${index}`)

describe('fold', () => {
  test('the first event of a key is taken, and a repeat points to it', () => {
    const batch = [
      delivery('a', { id: '1' }, { id: '2' }, { id: '1' }),
      delivery('b', { id: '1' }),
      delivery('a', { id: '3' }, { id: '2' }),
    ]
    const { firsts, repeats } = fold(eventsOf(batch))
    expect(names(firsts)).toEqual(['a/1 0.0', 'a/2 0.1', 'b/1 1.0', 'a/3 2.0'])
    expect(names(repeats.map(({ event }) => event))).toEqual(['a/1 0.2', 'a/2 2.1'])
    expect(repeats.map(({ first }) => first)).toEqual([0, 1])
  })
})

test('contents are equal unless both have a hash and the hashes differ', () => {
  expect(sameContent(hash(1), hash(1))).toBe(true)
  expect(sameContent(hash(1), hash(2))).toBe(false)
  expect(sameContent(null, hash(2))).toBe(true)
  expect(sameContent(hash(1), null)).toBe(true)
})

describe('the parameters of a statement', () => {
  const item = (from: NewDelivery, index = 0, token: string | null = null) => {
    return { event: from.events[index]!, delivery: 0, index, from, token }
  }
  const batch = { number: '9', by: { worker: 'w', leaseMs: 5 } }

  test('plain is an event that is alone in its delivery, without a guard and without a lane', () => {
    expect(isPlain(item(delivery('a', { id: '1', content: 1 })))).toBe(true)
    expect(isPlain(item(delivery('a', { id: '1', guard: 1 })))).toBe(false)
    expect(isPlain(item(delivery('a', { id: '1', lane: 'x' })))).toBe(false)
    expect(isPlain(item(delivery('a', { id: '1' }, { id: '2' })))).toBe(false)
  })

  test('each batch has a number of its own that fits a bigint', () => {
    const numbers = Array.from({ length: 100 }, () => newBatch(batch.by).number)
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

    expect(
      parameters([item(one), item(one, 1, 't'), item(two)], new Map([[two, 7]]), batch).map(bytes),
    ).toEqual([
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
      '{NULL,NULL,"x"}',
      '{5,NULL}',
      '{"{\\"x-from\\":\\"a\\"}","{\\"x-from\\":\\"b\\"}"}',
      '{true,true}',
      '{false,false}',
      '{1,6}',
      '{5,3}',
      Buffer.from('a 1 2b 3'),
      '9',
      '{NULL,"t",NULL}',
      'w',
      5,
      '{NULL,NULL,NULL}',
      '{NULL,NULL,NULL}',
      '{NULL,NULL}',
    ])
    expect(plainParameters([item(two), item(three, 0, 't')], batch).map(bytes)).toEqual([
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
      '9',
      '{NULL,"t"}',
      'w',
      5,
      '{NULL,NULL}',
      '{NULL,NULL}',
    ])
  })
})
