/** What an event is about, by label. That each sender names its persons: test/retention/erasure.test.ts. */
import {
  bigcommerce,
  chargebee,
  github,
  intercom,
  quickbooks,
  stripe,
  unverified,
  woocommerce,
} from 'hookonce/providers'
import { describe, expect, test } from 'vitest'

const secret = `whsec_${'0123456789abcdef'.repeat(2)}`
type Factory = { readonly example: () => Record<string, unknown> }

async function referencesOf(
  factory: Factory,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Record<string, string>[]> {
  const source = (factory as never as (options: object) => ReturnType<typeof stripe>)(factory.example())
  const text = JSON.stringify(body)
  const all = { 'content-type': 'application/json', ...headers }
  const signed = await source.sign({ body: text, headers: all, now: Date.now() })
  return source.identify(signed).map(({ references = [] }) => byLabel(references))
}

const byLabel = (references: readonly { readonly label: string; readonly value: string }[]) =>
  Object.fromEntries(references.map(({ label, value }) => [label, value]))

describe('stripe', () => {
  const about = (object: object) => referencesOf(stripe, { id: 'evt_1', type: 't', data: { object } })

  test('an event about a customer has the customer as its object, others link it or contain it', async () => {
    const linked = { object: 'invoice', id: 'in_1', customer: 'cus_1', subscription: 'sub_1' }
    expect(await about({ object: 'customer', id: 'cus_1' })).toEqual([{ customer: 'cus_1' }])
    expect(await about(linked)).toEqual([{ customer: 'cus_1', invoice: 'in_1', subscription: 'sub_1' }])
    const expanded = { ...linked, customer: { id: 'cus_1', object: 'customer' }, subscription: null }
    expect(await about(expanded)).toEqual([{ customer: 'cus_1', invoice: 'in_1' }])
    expect(await about({ object: 'customer', id: 'cus_1', customer: 'not one' })).toEqual([
      { customer: 'cus_1' },
    ])
  })

  test('the subscription of an invoice is found where newer APIs have it', async () => {
    const parent = { subscription_details: { subscription: 'sub_2' } }
    expect(await about({ object: 'invoice', id: 'in_1', parent })).toEqual([
      { invoice: 'in_1', subscription: 'sub_2' },
    ])
  })

  test('a thin event has its related object, and a dispute only the payment', async () => {
    const thin = { id: 'evt_1', type: 't', related_object: { id: 'cus_9', type: 'customer' } }
    expect(await referencesOf(stripe, thin)).toEqual([{ customer: 'cus_9' }])
    expect(await about({ object: 'dispute', id: 'dp_1', charge: 'ch_1', payment_intent: 'pi_1' })).toEqual([
      { charge: 'ch_1', payment_intent: 'pi_1' },
    ])
  })

  test('references of the user are added, and replace those with the same label', () => {
    const references = {
      order: ['json:data.object.metadata.order_id', 'json:data.object.client_reference_id'],
      customer: 'json:data.object.metadata.person',
    }
    const source = stripe({ secret, references })
    const found = (object: object) =>
      source.identify({
        ...{ method: 'POST', url: 'http://localhost/', headers: {} },
        body: Buffer.from(JSON.stringify({ id: 'evt_1', type: 't', data: { object } })),
      })[0]!.references
    const object = { object: 'charge', id: 'ch_1', customer: 'cus_1', client_reference_id: 'o2' }
    expect(byLabel(found(object)!)).toEqual({ charge: 'ch_1', order: 'o2' })
    expect(byLabel(found({ ...object, metadata: { order_id: 'o1', person: 'p' } })!)).toEqual({
      ...{ charge: 'ch_1', customer: 'p', order: 'o1' },
    })
    expect(source.labels).toEqual(expect.arrayContaining(['customer', 'invoice', 'order']))
  })
})

test('numbers that customers and orders share differ by their label', async () => {
  const of = (topic: string, body: object) => referencesOf(woocommerce, body, { 'x-wc-webhook-topic': topic })
  expect(await of('customer.updated', { id: 25 })).toEqual([{ customer: '25' }])
  expect(await of('order.created', { id: 25, customer_id: 7 })).toEqual([{ customer: '7', order: '25' }])
  expect(await of('order.created', { id: 26, customer_id: 0 })).toEqual([{ order: '26' }]) // a guest
  const shop = (type: string) => referencesOf(bigcommerce, { data: { type, id: 25 } }, { 'webhook-id': 'w' })
  expect(await shop('customer')).toEqual([{ customer: '25' }])
  expect(await shop('order')).toEqual([{ order: '25' }])
})

test('each event of a delivery has its own references', async () => {
  const entity = (name: string, id: string) => ({ name, id, operation: 'Update', lastUpdated: '2026' })
  const entities = [entity('Customer', '1'), entity('Invoice', '1')]
  const body = { eventNotifications: [{ realmId: '99', dataChangeEvent: { entities } }] }
  expect(await referencesOf(quickbooks, body)).toEqual([
    { customer: '1', company: '99' },
    { invoice: '1', company: '99' },
  ])
})

test('references link what is nested, and a path with [] finds all', async () => {
  const invoice = { id: 'inv_1', customer_id: 'cus_1', subscription_id: 'sub_1' }
  expect(await referencesOf(chargebee, { id: 'ev_1', event_type: 't', content: { invoice } })).toEqual([
    { customer: 'cus_1', subscription: 'sub_1', invoice: 'inv_1' },
  ])
  const push = { repository: { full_name: 'me/shop' }, sender: { login: 'mona' }, installation: { id: 5 } }
  expect(await referencesOf(github, push, { 'x-github-event': 'push', 'x-github-delivery': 'd' })).toEqual([
    { repository: 'me/shop', user: 'mona', installation: '5' },
  ])
  const contacts = { contacts: [{ id: 'c1' }, { id: 'c2' }] }
  const item = { type: 'conversation', id: '147', contacts }
  const source = unverified({
    id: 'json:id',
    references: { contact: 'json:data.item.contacts.contacts[].id' },
  })
  const found = source.identify({
    ...{ method: 'POST', url: 'http://localhost/', headers: {} },
    body: Buffer.from(JSON.stringify({ id: 'n', type: 't', data: { item } })),
  })
  expect(found[0]!.references!.map(({ value }) => value)).toEqual(['c1', 'c2'])
  expect(await referencesOf(intercom, { id: 'n', topic: 't', data: { item } })).toMatchObject([
    { conversation: '147' },
  ])
})

test('values that the log does not take are hashed, cleaned or left out, and never refuse an event', () => {
  const references = { customer: 'json:c', list: 'json:l[]' }
  const source = unverified({ id: 'json:id', references })
  const found = (body: object) =>
    source.identify({
      ...{ method: 'POST', url: 'http://localhost/', headers: {} },
      body: Buffer.from(JSON.stringify({ id: 'x', type: 't', ...body })),
    })[0]!.references!
  expect(found({ c: 'a'.repeat(300) })[0]!.value).toMatch(/^sha256:[0-9a-f]{64}$/)
  expect(found({ c: 'a\u0000b' })).toEqual([{ label: 'customer', value: 'a\ufffdb' }])
  expect(found({ c: { id: 'x' }, l: ['', null, 'a', 'a', ['b']] })).toEqual([{ label: 'list', value: 'a' }])
})
