/** Payments, shops, messages: the type and the reference of an event, what a user routes by and orders by. */
import {
  chargebee,
  discord,
  hubspot,
  lemonSqueezy,
  meta,
  paypal,
  paystack,
  plaid,
  razorpay,
  rudderstack,
  segment,
  shopify,
  slack,
  square,
  telegram,
  twilio,
  twitchEventsub,
} from 'hookonce/providers'
import { expect, test } from 'vitest'
import { expectEach, identify, now } from '../support/references.js'

const secret = 'a secret that is long enough'

const interaction = { id: '786008729715212338', channel_id: '645027906669510667', guild_id: '2909267986' }
expectEach(discord, [
  {
    name: 'a command',
    body: { ...interaction, type: 2, data: { id: '771825006014889984', name: 'ban', type: 1 } },
    type: 'APPLICATION_COMMAND.ban',
    reference: '645027906669510667',
  },
  {
    name: 'a pressed button',
    body: { ...interaction, type: 3, data: { custom_id: 'order:17', component_type: 2 } },
    type: 'MESSAGE_COMPONENT',
    reference: '645027906669510667',
  },
  {
    name: 'a command in a direct message',
    body: { id: '1', type: 2, user: { id: '53908232506183680' }, data: { id: '2', name: 'help' } },
    type: 'APPLICATION_COMMAND.help',
    reference: '53908232506183680',
  },
  {
    name: 'an entitlement',
    body: {
      version: 1,
      type: 1,
      event: { type: 'ENTITLEMENT_CREATE', data: { id: '1234505980407808808', user_id: '1' } },
    },
    type: 'ENTITLEMENT_CREATE',
    reference: '1234505980407808808',
  },
])

const related = { supplementary_data: { related_ids: { order_id: '1W5313654M9708630' } } }
expectEach(paypal, [
  {
    name: 'an approved order',
    body: { id: 'WH-1', event_type: 'CHECKOUT.ORDER.APPROVED', resource: { id: '1W5313654M9708630' } },
    type: 'CHECKOUT.ORDER.APPROVED',
    reference: '1W5313654M9708630',
  },
  {
    name: 'the capture of this order',
    body: {
      id: 'WH-2',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      resource: { ...related, id: '02335565G34798738', status: 'COMPLETED' },
    },
    type: 'PAYMENT.CAPTURE.COMPLETED',
    reference: '1W5313654M9708630',
  },
  {
    name: 'the payment of a subscription',
    body: {
      id: 'WH-3',
      event_type: 'PAYMENT.SALE.COMPLETED',
      resource: { billing_agreement_id: 'I-37B4TLL0FAJJ', id: '44P499886K055384U' },
    },
    type: 'PAYMENT.SALE.COMPLETED',
    reference: 'I-37B4TLL0FAJJ',
  },
  {
    name: 'a dispute',
    body: { id: 'WH-4', event_type: 'CUSTOMER.DISPUTE.CREATED', resource: { dispute_id: 'PP-D-4012' } },
    type: 'CUSTOMER.DISPUTE.CREATED',
    reference: 'PP-D-4012',
  },
])

const topic = (name: string) => ({ 'x-shopify-topic': name, 'x-shopify-webhook-id': 'b54557e4' })
expectEach(shopify, [
  {
    name: 'an order',
    headers: topic('orders/updated'),
    body: { id: 820982911, order_number: 1234 },
    type: 'orders/updated',
    reference: '820982911',
  },
  {
    name: 'a refund',
    headers: topic('refunds/create'),
    body: { id: 890088186, order_id: 820982911 },
    type: 'refunds/create',
    reference: '820982911',
  },
  {
    name: 'a fulfilment',
    headers: topic('fulfillments/create'),
    body: { id: 123456, order_id: 820982911 },
    type: 'fulfillments/create',
    reference: '820982911',
  },
  {
    name: 'an edited order',
    headers: topic('orders/edited'),
    body: { order_edit: { id: 78912328793, order_id: 820982911 } },
    type: 'orders/edited',
    reference: '820982911',
  },
  {
    name: 'a draft that became an order',
    headers: topic('draft_orders/update'),
    body: { id: 890612572, order_id: 820982911 },
    type: 'draft_orders/update',
    reference: '890612572',
  },
  {
    name: 'the erasure of a customer',
    headers: topic('customers/redact'),
    body: { shop_id: 954889, customer: { id: 191167 }, orders_to_redact: [299938] },
    type: 'customers/redact',
    reference: '191167',
  },
])

const callback = (event: object) => ({ type: 'event_callback', team_id: 'T1', event_id: 'Ev1', event })
const interactive = (payload: object) => ({
  payload: JSON.stringify({ trigger_id: '1.2.3', team: { id: 'T1' }, user: { id: 'U1' }, ...payload }),
})
expectEach(slack, [
  {
    name: 'a message',
    body: callback({ type: 'message', channel: 'C1', user: 'U1', text: 'hello' }),
    type: 'message',
    reference: 'C1',
  },
  {
    name: 'an edited message',
    body: callback({ type: 'message', subtype: 'message_changed', channel: 'C1' }),
    type: 'message.message_changed',
    reference: 'C1',
  },
  {
    name: 'a new channel',
    body: callback({ type: 'channel_created', channel: { id: 'C2', name: 'fun' } }),
    type: 'channel_created',
    reference: 'C2',
  },
  {
    name: 'a new member',
    body: callback({ type: 'team_join', user: { id: 'U9' } }),
    type: 'team_join',
    reference: 'U9',
  },
  {
    name: 'a pressed button',
    form: interactive({
      type: 'block_actions',
      channel: { id: 'C1' },
      actions: [{ action_id: 'approve', block_id: 'b' }],
    }),
    type: 'block_actions.approve',
    reference: 'C1',
  },
  {
    name: 'a submitted form',
    form: interactive({ type: 'view_submission', view: { id: 'V1', callback_id: 'new-ticket' } }),
    type: 'view_submission.new-ticket',
    reference: 'U1',
  },
])

const track = { messageId: 'm1', type: 'track', event: 'Order Completed', userId: 'u1' }
for (const factory of [segment, rudderstack]) {
  expectEach(factory, [
    { name: 'an event', body: track, type: 'track.Order Completed', reference: 'u1' },
    {
      name: 'traits',
      body: { messageId: 'm2', type: 'identify', userId: 'u1' },
      type: 'identify',
      reference: 'u1',
    },
  ])
}

expectEach(telegram, [
  {
    name: 'a message',
    body: {
      update_id: 1,
      message: { message_id: 1365, from: { id: 7 }, chat: { id: -100 }, text: '/start' },
    },
    type: 'message',
    reference: '-100',
  },
  {
    name: 'a pressed button',
    body: { update_id: 2, callback_query: { id: '43', from: { id: 7 }, message: { chat: { id: -100 } } } },
    type: 'callback_query',
    reference: '-100',
  },
  {
    name: 'an inline query',
    body: { update_id: 3, inline_query: { id: '13', from: { id: 7 }, query: 'cats' } },
    type: 'inline_query',
    reference: '7',
  },
])

expectEach(chargebee, [
  {
    name: 'an item',
    body: { id: 'ev_1', event_type: 'item_created', content: { item: { id: 'silver' } } },
    type: 'item_created',
    reference: 'silver',
  },
])
expectEach(square, [
  {
    name: 'a refund',
    body: {
      event_id: 'e1',
      type: 'refund.updated',
      data: { type: 'refund', id: 'KkAk_r', object: { refund: { id: 'KkAk_r', payment_id: 'KkAk' } } },
    },
    type: 'refund.updated',
    reference: 'KkAk',
  },
])
expectEach(razorpay, [
  {
    name: 'a captured payment',
    headers: { 'x-razorpay-event-id': 'e1' },
    body: {
      event: 'payment.captured',
      payload: { payment: { entity: { id: 'pay_1', order_id: 'order_1' } } },
    },
    type: 'payment.captured',
    reference: 'order_1',
  },
  {
    name: 'the paid order',
    headers: { 'x-razorpay-event-id': 'e2' },
    body: {
      event: 'order.paid',
      payload: { payment: { entity: { id: 'pay_1' } }, order: { entity: { id: 'order_1' } } },
    },
    type: 'order.paid',
    reference: 'order_1',
  },
])
expectEach(paystack, [
  {
    name: 'a subscription',
    body: { event: 'subscription.create', data: { id: 1, subscription_code: 'SUB_1' } },
    type: 'subscription.create',
    reference: 'SUB_1',
  },
  {
    name: 'an invoice',
    body: {
      event: 'invoice.update',
      data: { subscription: { subscription_code: 'SUB_1' }, transaction: { reference: '9cfb' } },
    },
    type: 'invoice.update',
    reference: 'SUB_1',
  },
])
expectEach(lemonSqueezy, [
  {
    name: 'the payment of a subscription',
    body: {
      meta: { event_name: 'subscription_payment_success' },
      data: { type: 'subscription-invoices', id: '17', attributes: { subscription_id: 3 } },
    },
    type: 'subscription_payment_success',
    reference: '3',
  },
])
expectEach(plaid, [
  {
    name: 'an identity verification',
    body: {
      webhook_type: 'IDENTITY_VERIFICATION',
      webhook_code: 'STATUS_UPDATED',
      identity_verification_id: 'idv_52xR9LKo77r1Np',
    },
    type: 'IDENTITY_VERIFICATION.STATUS_UPDATED',
    reference: 'idv_52xR9LKo77r1Np',
  },
])
test('Twilio: received messages of one sender have one reference, which is not the phone number', async () => {
  const message = { From: '+14155551234', To: '+14155550000', SmsStatus: 'received' }
  const [first] = await identify(twilio, { form: { ...message, MessageSid: 'SM1' } })
  const [second] = await identify(twilio, {
    form: { ...message, MessageSid: 'SM2' },
  })
  const other = { ...message, From: '+14155559999', MessageSid: 'SM3' }
  const [third] = await identify(twilio, { form: other })
  expect(first!.reference).toMatch(/^sha256:/)
  expect(second!.reference).toBe(first!.reference)
  expect(third!.reference).not.toBe(first!.reference)
  const status = { MessageSid: 'SM1', MessageStatus: 'delivered', SmsStatus: 'delivered' }
  expect(await identify(twilio, { form: status })).toEqual([{ type: 'delivered', reference: 'SM1' }])
})

test('WhatsApp: messages of one customer have one reference, which is not the phone number', async () => {
  const message = (from: string, id: string) => ({ from, id, type: 'text', text: { body: 'hello' } })
  const messages = [
    message('16505551234', 'wamid.1'),
    message('16505551234', 'wamid.2'),
    message('4915', 'wamid.3'),
  ]
  const value = { metadata: { phone_number_id: '106540352242922' }, messages }
  const body = {
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  }
  const references = (await identify(meta, { body })).map(({ reference }) => reference)
  expect(references[0]).toMatch(/^sha256:/)
  expect(references[1]).toBe(references[0])
  expect(references[2]).not.toBe(references[0])
})

test('Facebook: changes of one post have the post as their reference', async () => {
  const value = { item: 'comment', verb: 'add', post_id: '44444444_444', comment_id: '44444444_555' }
  const body = { object: 'page', entry: [{ id: '44444444', time: 1, changes: [{ field: 'feed', value }] }] }
  expect(await identify(meta, { body })).toEqual([{ type: 'page.feed', reference: '44444444_444' }])
})

test('HubSpot: merges and changes of associations are about the object they name', async () => {
  const source = hubspot({ secret })
  const common = { portalId: 1, subscriptionId: 2, occurredAt: 3 }
  const body = [
    { ...common, eventId: 1, subscriptionType: 'contact.creation', objectId: 7 },
    { ...common, eventId: 2, subscriptionType: 'contact.merge', primaryObjectId: 8, mergedObjectIds: [9] },
    { ...common, eventId: 3, subscriptionType: 'contact.associationChange', fromObjectId: 9, toObjectId: 10 },
  ]
  const events = source.identify(await source.sign({ body: JSON.stringify(body), now }))
  expect(events.map(({ reference }) => reference)).toEqual(['7', '8', '9'])
})

test('Twitch: the start and the end of a stream have the broadcaster as their reference', async () => {
  const source = twitchEventsub({ secret })
  const referenceOf = async (type: string, body: object) => {
    const headers = { 'twitch-eventsub-message-id': type, 'twitch-eventsub-subscription-type': type }
    const signed = await source.sign({ body: JSON.stringify(body), headers, now })
    return source.identify(signed)[0]!.reference
  }
  const condition = { broadcaster_user_id: '1337' }
  const event = { broadcaster_user_id: '1337' }
  expect(await referenceOf('stream.online', { subscription: { id: 'a', condition }, event })).toBe('1337')
  expect(await referenceOf('stream.offline', { subscription: { id: 'b', condition }, event })).toBe('1337')
  expect(await referenceOf('stream.online', { subscription: { id: 'a', condition } })).toBe('1337')
  expect(await referenceOf('user.update', { subscription: { id: 'c' }, event: {} })).toBe('c')
})
