import type { Source } from 'hookonce'
/** Several events in one delivery: which rule takes which part, and how much reading it costs. */
import { composite, defineProvider, hmac, hmacScheme, meta } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { scanned } from '#dist/verification/json.js'

const now = 1_700_000_000_000
const secret = 'a secret that is long enough'

describe('a rule with `otherwise` applies to the elements without an event', () => {
  const message = (id: string) => ({ field: 'messages', value: { messages: [{ id, type: 'text' }] } })
  const identify = async (body: object) => {
    const source = meta({ secret })
    return source.identify(await source.sign({ body: JSON.stringify(body), now }))
  }

  test('a message, an account update and a template update in one Meta delivery are three events', async () => {
    const account = { field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } }
    const template = { field: 'message_template_status_update', value: { event: 'APPROVED' } }
    const events = await identify({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', time: 1, changes: [message('wamid.1'), account, template] }],
    })
    expect(events.map(({ type, payload }) => [type, payload])).toEqual([
      ['whatsapp_business_account.messages', { id: 'wamid.1', type: 'text' }],
      ['whatsapp_business_account.account_update', account],
      ['whatsapp_business_account.message_template_status_update', template],
    ])
    expect(new Set(events.map(({ id }) => id)).size).toBe(3)
  })

  test('an entry with only changed fields is an event beside entries with values', async () => {
    const events = await identify({
      object: 'page',
      entry: [
        { id: '1', time: 1, changed_fields: ['feed'] },
        { id: '2', time: 1, changes: [{ field: 'feed', value: {} }] },
        { id: '3', time: 1, messaging: [{ sender: { id: '9' }, timestamp: 1, read: {} }] },
      ],
    })
    expect(events.map(({ type, reference }) => [type, reference])).toEqual([
      ['page.feed', '2'],
      ['page.read', '9'],
      ['page', '1'],
    ])
  })

  test('a rule for the whole delivery still applies only when nothing was found in it', async () => {
    const source = defineProvider({
      key: 'both',
      name: 'Both',
      docs: 'https://example.com',
      confidence: 'verified',
      verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
      events: [
        { each: 'items[]', id: 'json:id', type: 'const:item' },
        { id: 'json:id', type: 'const:whole', otherwise: true },
      ],
      retryWindowMs: null,
      samples: { item: { items: [{ id: '{id}' }] } },
    })({ secret })
    const types = async (body: string) =>
      source.identify(await source.sign({ body, now })).map(({ type }) => type)
    expect(await types('{"id":"d","items":[{"id":"a"},{"id":"b"}]}')).toEqual(['item', 'item'])
    expect(await types('{"id":"d","items":[]}')).toEqual(['whole'])
  })
})

describe('the bytes that are read for a delivery grow with its size, not with the square of its events', () => {
  const work = async (source: Source, body: string) => {
    const delivery = await source.sign({ body, now })
    const before = scanned.bytes
    const events = source.identify(delivery)
    const identified = scanned.bytes - before
    source.slices!(delivery)
    return {
      events,
      bytes: delivery.body.byteLength,
      identified,
      sliced: scanned.bytes - before - identified,
    }
  }
  const sources = {
    meta: [
      meta({ secret }),
      (count: number) =>
        JSON.stringify({
          object: 'page',
          entry: Array.from({ length: count }, (_, i) => ({
            id: '1',
            time: i,
            changes: [
              {
                field: 'messages',
                value: { metadata: { phone_number_id: '2' }, messages: [{ id: `m${i}` }] },
              },
              { field: 'feed', value: { n: i } },
            ],
          })),
        }),
    ],
    'one list under one parent': [
      hmac({
        secret,
        header: 'x-signature',
        each: 'page.items[]',
        id: composite('json:$.page.id', 'json:^.id', 'json:id'),
        type: 'json:$.kind',
        reference: 'json:$.page.id',
      }),
      (count: number) =>
        JSON.stringify({
          id: 0,
          kind: 'x',
          page: { id: 'p', items: Array.from({ length: count }, (_, id) => ({ id })) },
        }),
    ],
  } as const

  for (const [name, [source, bodyOf]] of Object.entries(sources)) {
    test(name, async () => {
      const few = await work(source, bodyOf(10))
      const many = await work(source, bodyOf(1_000))
      expect(many.events.length).toBe(100 * few.events.length)
      const perByte = (result: typeof few, bytes: number) => bytes / result.bytes
      for (const step of ['identified', 'sliced'] as const) {
        expect(many[step]).toBeGreaterThan(many.bytes)
        // The same number of passes over the body, however many events are in it.
        expect(perByte(many, many[step])).toBeLessThan(1.5 * perByte(few, few[step]))
      }
    })
  }
})
