import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'x-hookdeck-eventid': 'evt_wqVzV9zSYdZ0Xk0x6Kj1',
  'x-hookdeck-requestid': 'req_wqVzV9zSYdZ0Xk0x6Kj1',
  'x-hookdeck-source-name': 'stripe-production',
  'x-hookdeck-attempt-count': '1',
}

export const hookdeck: Kinds = [
  {
    name: 'a forwarded JSON body',
    headers,
    body: { id: 'evt_1PgafmB7WZ01zgkW6dKueIc5', type: 'invoice.paid' },
    events: ['stripe-production'],
    redelivery: { 'header:x-hookdeck-attempt-count': '2' },
    another: { 'header:x-hookdeck-eventid': 'evt_wqVzV9zSYdZ0Xk0x6Kj2' },
  },
  {
    name: 'a forwarded form',
    headers: { ...headers, 'x-hookdeck-source-name': 'twilio' },
    format: 'form',
    body: { MessageSid: 'SM1', MessageStatus: 'sent' },
    events: ['twilio'],
    another: { 'header:x-hookdeck-eventid': 'evt_wqVzV9zSYdZ0Xk0x6Kj2' },
  },
]
