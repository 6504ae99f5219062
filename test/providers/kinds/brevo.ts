import type { Kinds } from 'hookonce/testing/contracts'

const message = {
  event: 'opened',
  email: 'example@example.com',
  id: 26224,
  'message-id': '<1@relay.domain.com>',
  ts_event: 1604933654,
  ts_epoch: 1604933654000,
}

export const brevo: Kinds = [
  {
    name: 'an event of a message',
    docs: 'https://developers.brevo.com/docs/transactional-webhooks',
    body: message,
    events: ['opened'],
    another: [
      { 'json:event': 'click', 'json:link': 'https://example.com' },
      { 'json:ts_event': 1604933655 },
      // Opened twice in one second.
      { 'json:ts_epoch': 1604933654100 },
    ],
  },
  {
    name: 'a batch',
    docs: 'https://developers.brevo.com/docs/batched-webhooks',
    body: [message, { ...message, 'message-id': '<2@relay.domain.com>' }],
    events: ['opened', 'opened'],
    another: { 'json:1.message-id': '<3@relay.domain.com>' },
  },
  {
    name: 'an event of a marketing campaign or contact',
    docs: 'https://developers.brevo.com/docs/marketing-webhooks',
    body: {
      id: 1,
      event: 'list_addition',
      email: ['a@example.com'],
      list_id: [2],
      date: '2026-11-15',
      ts: 1604937337,
    },
    events: ['list_addition'],
    another: { 'json:ts': 1604937338 },
  },
  {
    name: 'mail that came in',
    docs: 'https://developers.brevo.com/docs/inbound-parse-webhooks',
    body: { items: [{ Uuid: ['8d79f2a1'], MessageId: '<1@example.com>', Subject: 'Hello' }] },
    events: ['inbound'],
    another: { 'json:items.0.MessageId': '<2@example.com>' },
  },
  {
    name: 'a message of a conversation',
    docs: 'https://developers.brevo.com/docs/conversations-webhooks',
    body: {
      eventName: 'conversationFragment',
      conversationId: 'c1',
      messages: [{ id: 'm1', createdAt: 1470222622433 }],
    },
    events: ['conversationFragment'],
    another: { 'json:messages.0.id': 'm2' },
  },
]
