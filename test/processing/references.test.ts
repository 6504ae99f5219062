/** Labelled references: order by them, and those that a handler adds. */

import { createInbox, permanent } from 'hookonce'
import { hmac, stripe, unverified } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { describe, expect, test } from 'vitest'
import { onBothLogs, post, postAll, stateOf, until } from '../support/processing.js'

const secret = `whsec_${'0123456789abcdef'.repeat(2)}`
const shop = () =>
  unverified({
    ...{ id: 'json:id', type: 'json:type', reference: 'json:ref' },
    references: { customer: 'json:customer', items: 'json:items[].id' },
  })
const key = (id: string, source = 'shop') => ({ source, id })
const learned = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`)

onBothLogs((bench) => {
  describe('order by a label', () => {
    test.each(['handler', 'source', 'consumer'] as const)(
      'events of one customer run one at a time and in order, whatever else they are about (order of the %s)',
      async (where) => {
        const source = where === 'source' ? { ...shop(), order: 'customer' } : shop()
        const { inbox } = bench.inbox({ sources: { shop: source } })
        const began: string[] = []
        const held = new Map<string, () => void>()
        const more = where === 'source' ? {} : { order: 'customer' }
        inbox.on(
          'shop',
          '*',
          async ({ id }) => {
            began.push(id)
            await new Promise<void>((resolve) => held.set(id, resolve))
          },
          where === 'consumer' ? { ...more, consumer: 'mail' } : more,
        )
        await inbox.start()
        for (const [id, customer] of [
          ['a1', 'ann'],
          ['a2', 'ann'],
          ['b1', 'bob'],
          ['a3', 'ann'],
        ])
          await post(inbox, { id: id!, ref: `order ${id}`, customer })
        await until(() => began.length >= 2, 'two attempts')
        expect([...began].sort()).toEqual(['a1', 'b1'])
        for (const id of ['a1', 'a2', 'a3']) {
          await until(() => held.has(id), `an attempt on ${id}`)
          expect(began.filter((one) => one.startsWith('a')).at(-1)).toBe(id)
          held.get(id)!()
        }
        held.get('b1')!()
      },
    )

    test('events without the label wait for no other', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop() } })
      const began: string[] = []
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      inbox.on(
        'shop',
        '*',
        async ({ id }) => {
          began.push(id)
          await released
        },
        { order: 'customer' },
      )
      await inbox.start()
      await postAll(inbox, [
        { id: 'x', ref: 'same' },
        { id: 'y', ref: 'same' },
      ])
      await until(() => began.length === 2, 'two attempts')
      release()
    })
  })

  describe('ctx.refer', () => {
    test('adds references that commit with the writes of the handler', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop() } })
      inbox.on('shop', '*', async ({ id }, ctx) => {
        await bench.write(ctx.tx, id)
        ctx.refer('attempt', `for ${id}`)
        ctx.refer('number', 42)
      })
      await postAll(inbox, [{ id: 'a', customer: 'ann' }, { id: 'b' }])
      await inbox.drain()
      const { events } = await inbox.events.list({ reference: 'for a', label: 'attempt' })
      expect(events).toMatchObject([
        {
          id: 'a',
          state: 'succeeded',
          references: [
            { label: 'attempt', value: 'for a' },
            { label: 'customer', value: 'ann' },
            { label: 'number', value: '42' },
          ],
        },
      ])
      expect((await inbox.events.list({ reference: '42' })).events).toHaveLength(2)
    })

    test('adds nothing when the attempt fails, and what the next one learns when that succeeds', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop() } })
      inbox.on('shop', '*', async ({ id }, ctx) => {
        ctx.refer('attempt', `${id} ${ctx.attempt}`)
        if (id === 'dead') throw permanent('no')
        if (id === 'later' && ctx.attempt === 1) throw new Error('not now')
        await bench.write(ctx.tx, id)
      })
      await postAll(inbox, [{ id: 'dead' }, { id: 'later' }])
      await until(
        async () => (await inbox.drain()) === 0 && (await stateOf(inbox, 'later')) === 'succeeded',
        'success of the second attempt',
      )
      const found = async (id: string) =>
        (await inbox.events.get(key(id)))!.references.map(({ value }) => value)
      expect(await found('dead')).toEqual([])
      expect(await found('later')).toEqual(['later 2'])
    })

    test('adds nothing when the event became stale while its handler ran: its writes are rolled back', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop() } })
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let hasBegun = false
      inbox.on(
        'shop',
        '*',
        async ({ id }, ctx) => {
          ctx.refer('attempt', id)
          if (id !== 'old') return
          hasBegun = true
          await released
        },
        { stale: ({ payload }) => (payload as { version: number }).version },
      )
      await inbox.start()
      await post(inbox, { id: 'old', ref: 'r', version: 1 })
      await until(() => hasBegun, 'the attempt on the older event')
      await post(inbox, { id: 'new', ref: 'r', version: 2 })
      await until(async () => (await stateOf(inbox, 'new')) === 'succeeded', 'success of the newer event')
      release()
      await until(async () => (await stateOf(inbox, 'old')) === 'ignored', 'the end of the older event')
      expect(await inbox.events.get(key('old'))).toMatchObject({ reason: 'stale', references: [] })
      expect(await inbox.events.get(key('new'))).toMatchObject({
        references: [{ label: 'attempt', value: 'new' }],
      })
    })

    test('belongs to each event of a batch', async () => {
      const { inbox } = bench.inbox({ sources: { shop: shop() } })
      inbox.onBatch('shop', '*', async (events, ctx) => {
        for (const event of events) {
          await bench.write(ctx.tx, event.id)
          ctx.refer(event, 'attempt', `for ${event.id}`)
        }
        expect(() => ctx.refer({ ...events[0]! }, 'attempt', 'x')).toThrow('needs an event of this batch')
      })
      await postAll(inbox, [{ id: 'a' }, { id: 'b' }])
      await inbox.drain()
      for (const id of ['a', 'b'])
        expect((await inbox.events.list({ reference: `for ${id}` })).events).toMatchObject([{ id }])
    })

    test('keeps the first twenty of an attempt and says so, and refuses what is no label or value', async () => {
      const { inbox, lines } = bench.inbox({ sources: { shop: shop() } })
      inbox.on('shop', '*', (_event, ctx) => {
        expect(() => ctx.refer('reference', 'x')).toThrow('The label of ctx.refer cannot be "reference"')
        expect(() => ctx.refer('no label', 'x')).toThrow('must be 1 to 64 letters')
        expect(() => ctx.refer('order', '')).toThrow('The value of ctx.refer must be text')
        for (const id of learned(21)) ctx.refer('attempt', id)
        ctx.refer('attempt', 'a0')
      })
      await post(inbox, { id: 'many' })
      await inbox.drain()
      expect((await inbox.events.get(key('many')))?.references).toHaveLength(20)
      expect(lines.filter(({ msg }) => msg.includes('only the first 20'))).toHaveLength(1)
    })
  })

  test('a sender with too many references is recorded with the first twenty, and counted', async () => {
    const { inbox, lines } = bench.inbox({ sources: { shop: shop() } })
    const items = learned(30).map((id) => ({ id }))
    expect(await post(inbox, { id: 'wide', customer: 'ann', items })).toMatchObject({ status: 'accepted' })
    expect(await post(inbox, { id: 'narrow', customer: 'ann' })).toMatchObject({ status: 'accepted' })
    const { events } = await inbox.events.list({ reference: 'ann', label: 'customer' })
    expect(events.map(({ id, references }) => [id, references.length])).toEqual([
      ['narrow', 1],
      ['wide', 20],
    ])
    expect(lines.filter(({ msg }) => msg.includes('the others are left out'))).toHaveLength(1)
  })
})

test('an unknown label in `order` is an error at start that names the known ones', () => {
  expect(() => stripe({ secret, order: 'costumer' })).toThrow(
    'The option order of provider "stripe" must be one of "reference", "customer", "invoice"',
  )
  expect(() => hmac({ secret, header: 'x-signature', id: 'json:id', order: 'customer' })).toThrow(
    'The option order of provider "hmac" must be one of "reference", not "customer"',
  )
  const source = stripe({ secret })
  const inbox = createInbox({ store: sqlite(':memory:'), sources: { stripe: source } })
  expect(() => inbox.on('stripe', '*', () => {}, { order: 'costumer' })).toThrow(
    'The option `order` of the handler for "*" of source "stripe" must be one of "reference", "customer"',
  )
  const made = { ...source, order: 'costumer' }
  expect(() => createInbox({ store: sqlite(':memory:'), sources: { made } })).toThrow(
    'The option `order` of the source "made" must be one of',
  )
  const added = { references: { order: 'json:data.object.metadata.order_id' } } as const
  expect(stripe({ secret, order: 'order', ...added }).labels).toContain('order')
})

test('references of the user need a label and a field', () => {
  const make = (references: Record<string, string>) => () => stripe({ secret, references })
  expect(make({ reference: 'json:id' })).toThrow('option references.reference of provider "stripe" cannot be')
  expect(make({ 'my label': 'json:id' })).toThrow('letters, digits, dashes or underscores')
  expect(make({ order: 'data.id' })).toThrow('must be a field such as "json:data.order_id"')
  expect(make({ order: '' })).toThrow('must be an object of labels and fields')
})
