import type { Kinds } from 'hookonce/testing/contracts'

export const zendesk: Kinds = [
  {
    name: 'an event of a subscription',
    docs: 'https://developer.zendesk.com/api-reference/webhooks/event-types/ticket-events/',
    body: {
      account_id: 22129848,
      id: '2b24ef10-19d6-4740-93cf-8f98ec6776c0',
      type: 'zen:event-type:ticket.status_changed',
      subject: 'zen:ticket:5158',
      time: '2023-11-14T10:12:06Z',
      zendesk_event_version: '2022-11-06',
      detail: { id: '5158', status: 'OPEN' },
      event: { current: 'OPEN', previous: 'NEW' },
    },
    headers: { 'x-zendesk-webhook-invocation-id': '01G0000000000000000000000A' },
    events: ['zen:event-type:ticket.status_changed'],
    another: { 'json:id': '2b24ef10-19d6-4740-93cf-8f98ec6776c1' },
  },
  {
    name: "a trigger's JSON body",
    docs: 'https://developer.zendesk.com/documentation/webhooks/creating-and-monitoring-webhooks/',
    headers: { 'x-zendesk-webhook-invocation-id': '01G0000000000000000000000A' },
    body: { id: 5158, ticket_id: '5158', status: 'Open' },
    events: ['trigger'],
    another: { 'header:x-zendesk-webhook-invocation-id': '01G0000000000000000000000B' },
  },
  {
    name: "a trigger's form body",
    docs: 'https://developer.zendesk.com/documentation/webhooks/creating-and-monitoring-webhooks/',
    format: 'form',
    headers: { 'x-zendesk-webhook-invocation-id': '01G0000000000000000000000A' },
    body: { ticket_id: '5158', status: 'Open' },
    events: ['trigger'],
    another: { 'header:x-zendesk-webhook-invocation-id': '01G0000000000000000000000B' },
  },
  {
    name: "a trigger's XML body",
    docs: 'https://developer.zendesk.com/documentation/webhooks/creating-and-monitoring-webhooks/',
    format: 'xml',
    headers: { 'x-zendesk-webhook-invocation-id': '01G0000000000000000000000A' },
    body: '<ticket><id>5158</id></ticket>',
    events: ['trigger'],
    another: { 'header:x-zendesk-webhook-invocation-id': '01G0000000000000000000000B' },
  },
]
