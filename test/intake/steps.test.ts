/** The steps of intake beside a log and workers that do what the test says: who is told, and what the sender hears. */
import type { Delivery, Source } from 'hookonce'
import { unverified } from 'hookonce/providers'
import type { RecordVerdict } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { intake } from '../../dist/intake/intake.js'
import { intakeLimits, refuse } from '../../dist/intake/receive.js'
import type { Recording } from '../../dist/recorder.js'

const delivery = (given: Partial<Delivery> = {}): Delivery => ({
  method: 'POST',
  url: 'http://localhost/webhooks/shop',
  headers: {},
  body: Buffer.from('[{"id":"a"},{"id":"b"}]'),
  ...given,
})

const fresh: RecordVerdict = { status: 'recorded', seq: 1, state: 'pending' }
const known: RecordVerdict = { status: 'duplicate', seq: 1, state: 'pending', final: false, equal: true }
const dead: RecordVerdict = { ...known, state: 'failed', final: true }
const refused = { status: 'refused', code: 'INVALID_INPUT', detail: 'x' } as RecordVerdict

async function take(recording: Recording, options: Partial<Source> = {}) {
  const told: string[] = []
  const source = { ...unverified({ id: 'json:id', type: 'json:type' }), ...options }
  const observer = {
    received: (name: string) => name,
    answered: (_: string, { step, receipt }: { step: string; receipt: object }) => ({ ...receipt, step }),
    spooled: () => told.push('spooled'),
    countVerdicts: (_: string, ids: string[]) => told.push(`recorded ${ids.join(' ')}`),
  }
  const after = {
    recorded: (isLeft: boolean) => isLeft && told.push('workers woken'),
    handledLater: () => true,
    async inline({ id }: { id: string }) {
      told.push(`handled ${id}`)
      return { status: 'processed', reply: null }
    },
    rearm: async ({ id }: { id: string }) => void told.push(`rearmed ${id}`),
    laneOf: () => null,
  }
  const identify = () => [
    { id: 'a', type: 't', reference: null, content: null },
    { id: 'b', type: 't', reference: null, content: null },
  ]
  const receipt = await intake(
    {
      sources: new Map([['shop', { ...source, identify }]]),
      limits: intakeLimits(),
      clock: { now: () => 1 },
      recorder: { record: async () => recording },
      after,
      observer,
      tracing: null,
    } as never,
    'shop',
    delivery(),
  )
  return { receipt, told }
}

describe('after the commit', () => {
  test('the workers are woken when an event of the delivery is new, and only then', async () => {
    expect((await take([fresh, fresh])).told).toEqual(['recorded a b', 'workers woken'])
    expect((await take([known, fresh])).told).toEqual(['recorded a b', 'workers woken'])
    expect((await take([known, { ...fresh, leasedAt: 1 }])).told).toEqual(['recorded a b'])
    expect((await take([known, known])).told).toEqual(['recorded a b'])
  })

  test('a delivery in the spool is acknowledged as spooled, and nobody handles it yet', async () => {
    for (const mode of ['background', 'inline'] as const) {
      const { receipt, told } = await take('spooled', { mode })
      expect(receipt).toMatchObject({ httpStatus: 202, status: 'spooled', step: 'record' })
      expect(told).toEqual(['spooled'])
    }
  })

  test('a delivery that is refused after all is not handled in the request, and no dead letter is retried', async () => {
    for (const [verdict, httpStatus] of [
      [refused, 400],
      [{ ...dead, equal: false } as RecordVerdict, 409],
    ] as const)
      for (const mode of ['background', 'inline'] as const) {
        const { receipt, told } = await take([verdict, verdict], { mode, rearm: true, conflict: 'reject' })
        expect(receipt).toMatchObject({ httpStatus, step: 'record' })
        expect(told).toEqual(['recorded a b'])
      }
  })

  test('beside a conflict that is rejected, the other events of the delivery are handled', async () => {
    const conflict = { ...known, equal: false } as RecordVerdict
    const options = { conflict: 'reject' } as const
    const inline = await take([conflict, fresh], { ...options, mode: 'inline' })
    expect(inline.receipt).toMatchObject({ httpStatus: 409, step: 'record' })
    expect(inline.told).toEqual(['recorded a b', 'handled b'])
    const background = await take([conflict, fresh], options)
    expect(background.receipt).toMatchObject({ httpStatus: 409, step: 'record' })
    expect(background.told).toEqual(['recorded a b', 'workers woken'])
  })

  test('inline handles each event in the request; a dead letter is retried where that is asked for', async () => {
    const inline = await take([fresh, known], { mode: 'inline' })
    expect(inline.receipt).toMatchObject({ httpStatus: 200, status: 'processed', step: 'handle' })
    expect(inline.told).toEqual(['recorded a b', 'handled a', 'handled b'])
    expect((await take([known, dead], { rearm: true })).told).toEqual(['recorded a b', 'rearmed b'])
    expect((await take([known, dead])).told).toEqual(['recorded a b'])
  })
})

describe('limits', () => {
  const limits = intakeLimits({ bodyBytes: 10, headerCount: 2, headerBytes: 20 })
  const of = (given: Partial<Delivery>) => refuse(delivery({ body: Buffer.alloc(1), ...given }), limits)

  test('a body may be as long as its limit', () => {
    expect(of({ body: Buffer.alloc(10) })).toBeNull()
    expect(of({ body: Buffer.alloc(11) })).toBe('body_too_large')
  })

  test('headers may be as many, and together with their names as long, as their limits', () => {
    expect(of({ headers: { a: '1', b: '2' } })).toBeNull()
    expect(of({ headers: { a: '1', b: '2', c: '3' } })).toBe('headers_too_large')
    expect(of({ headers: { abcd: 'x'.repeat(6), efgh: 'y'.repeat(6) } })).toBeNull()
    expect(of({ headers: { abcd: 'x'.repeat(6), efgh: 'y'.repeat(7) } })).toBe('headers_too_large')
    expect(of({ headers: { ['n'.repeat(20)]: 'v' } })).toBe('headers_too_large')
  })

  test('a body that says it is not encoded is taken; any encoding is refused', () => {
    const roomy = { ...limits, headerBytes: 100 }
    const encoded = (value: string) =>
      refuse(delivery({ body: Buffer.alloc(1), headers: { 'content-encoding': value } }), roomy)
    expect(['', 'identity', 'IDENTITY', 'gzip', 'identity, gzip'].map(encoded)).toEqual([
      null,
      null,
      null,
      'content_encoding',
      'content_encoding',
    ])
  })
})
