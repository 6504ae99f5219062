import type { Kinds } from 'hookonce/testing/contracts'

const metadata = { display_phone_number: '15550783881', phone_number_id: '106540352242922' }
const whatsapp = (field: string, value: object) => ({
  field,
  value: { messaging_product: 'whatsapp', ...value },
})
const account = (...changes: object[]) => ({
  object: 'whatsapp_business_account',
  entry: [{ id: '102290129340398', time: 1739321024, changes }],
})
const text = {
  from: '16505551234',
  id: 'wamid.1',
  timestamp: '1749416383',
  type: 'text',
  text: { body: 'Hello' },
}
const status = { id: 'wamid.2', status: 'sent', timestamp: '1750030073', recipient_id: '16505551234' }
const update = { field: 'account_update', value: { event: 'VERIFIED_ACCOUNT', phone_number: '16505551111' } }
const template = {
  field: 'message_template_status_update',
  value: { event: 'APPROVED', message_template_id: 594425479261596, reason: 'NONE' },
}
const page = (...messaging: object[]) => ({
  object: 'page',
  entry: [{ id: '1755847768034402', time: 1763208000000, messaging }],
})
const between = { sender: { id: '6521384587962154' }, recipient: { id: '1755847768034402' } }

export const meta: Kinds = [
  {
    name: 'a WhatsApp message',
    docs: 'https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/reference/messages',
    body: account(whatsapp('messages', { metadata, messages: [text] })),
    events: ['whatsapp_business_account.messages'],
    another: { 'json:entry.0.changes.0.value.messages.0.id': 'wamid.3' },
  },
  {
    name: 'the status of a WhatsApp message',
    body: account(whatsapp('messages', { metadata, statuses: [status] })),
    events: ['whatsapp_business_account.statuses'],
    another: [
      { 'json:entry.0.changes.0.value.statuses.0.status': 'delivered' },
      { 'json:entry.0.changes.0.value.statuses.0.recipient_id': '16505551235' },
    ],
  },
  {
    name: 'an error of WhatsApp',
    body: account(whatsapp('messages', { metadata, errors: [{ code: 130429, title: 'Rate limit hit' }] })),
    another: { 'json:entry.0.time': 1739321025 },
  },
  {
    name: 'a message, an account update and a template update in one delivery',
    body: account(whatsapp('messages', { metadata, messages: [text] }), update, template),
    events: 3,
    another: [
      { 'json:entry.0.changes.1.value.event': 'DISABLED_UPDATE' },
      { 'json:entry.0.changes.2.value.event': 'REJECTED' },
    ],
  },
  {
    name: 'messages and statuses in several entries',
    body: {
      object: 'whatsapp_business_account',
      entry: [
        ...account(whatsapp('messages', { metadata, messages: [text, { ...text, id: 'wamid.4' }] })).entry,
        ...account(whatsapp('messages', { metadata, statuses: [status] })).entry,
        ...account(update).entry,
      ],
    },
    events: 4,
    another: { 'json:entry.2.time': 1739321099 },
  },
  {
    name: 'a message of Messenger',
    docs: 'https://developers.facebook.com/docs/messenger-platform/reference/webhook-events',
    body: page({ ...between, timestamp: 1763208000000, message: { mid: 'm_1', text: 'Hello' } }),
    events: ['page.message'],
    another: [
      { 'json:entry.0.messaging.0.message.mid': 'm_2' },
      { 'json:entry.0.messaging.0.message.is_deleted': true },
    ],
  },
  {
    name: 'a message that was edited, with the id of the message',
    body: page({
      ...between,
      timestamp: 1763208000000,
      message_edit: { mid: 'm_1', text: 'Hello!', num_edit: 1 },
    }),
    another: [
      { 'json:entry.0.messaging.0.message_edit.num_edit': 2 },
      { 'json:entry.0.messaging.0.timestamp': 1763208000009 },
    ],
  },
  {
    name: 'a reaction to a message of Messenger or Instagram',
    body: page({
      ...between,
      timestamp: 1763208000000,
      reaction: { reaction: 'love', action: 'react', mid: 'm_1' },
    }),
    another: [
      { 'json:entry.0.messaging.0.timestamp': 1763208000001 },
      { 'json:entry.0.messaging.0.reaction.action': 'unreact' },
    ],
  },
  {
    name: 'read receipts and postbacks of Messenger',
    body: page(
      { ...between, timestamp: 1763208000000, read: { watermark: 1763208000000 } },
      { ...between, timestamp: 1763208000001, postback: { mid: 'm_9', title: 'Start', payload: 'START' } },
    ),
    events: ['page.read', 'page.postback'],
    another: { 'json:entry.0.messaging.1.timestamp': 1763208000002 },
  },
  {
    name: 'a message of a conversation that another app has',
    docs: 'https://developers.facebook.com/docs/messenger-platform/handover-protocol',
    body: {
      object: 'page',
      entry: [
        {
          id: '1755847768034402',
          time: 1763208000000,
          standby: [{ ...between, timestamp: 1763208000000, message: { mid: 'm_1', text: 'Hello' } }],
        },
      ],
    },
    another: { 'json:entry.0.standby.0.message.mid': 'm_2' },
  },
  {
    name: 'a change of a page',
    docs: 'https://developers.facebook.com/docs/graph-api/webhooks/reference/page',
    body: {
      object: 'page',
      entry: [
        {
          id: '1755847768034402',
          time: 1763208000,
          changes: [
            { field: 'feed', value: { item: 'reaction', verb: 'add', post_id: '44444444_444444444' } },
          ],
        },
      ],
    },
    events: ['page.feed'],
    another: [{ 'json:entry.0.time': 1763208001 }, { 'json:entry.0.changes.0.value.verb': 'remove' }],
  },
  {
    name: 'a comment on Instagram',
    docs: 'https://developers.facebook.com/docs/instagram-platform/webhooks',
    body: {
      object: 'instagram',
      entry: [
        {
          id: '17841405309211844',
          time: 1763208000,
          changes: [{ field: 'comments', value: { id: '17865799348089039', text: 'Nice' } }],
        },
      ],
    },
    events: ['instagram.comments'],
    another: { 'json:entry.0.changes.0.value.id': '17865799348089040' },
  },
  {
    name: 'changed fields without their values',
    docs: 'https://developers.facebook.com/docs/graph-api/webhooks/getting-started',
    body: {
      object: 'user',
      entry: [{ id: '1234567890', uid: '1234567890', time: 1763208000, changed_fields: ['photos'] }],
    },
    events: ['user'],
    another: [{ 'json:entry.0.time': 1763208001 }, { 'json:entry.0.id': '1234567891' }],
  },
  {
    name: 'the verification of the endpoint',
    method: 'GET',
    options: { verifyToken: 'my-verify-token' },
    query: { 'hub.mode': 'subscribe', 'hub.verify_token': 'my-verify-token', 'hub.challenge': '1158201444' },
    handshake: 'unsigned',
  },
]
