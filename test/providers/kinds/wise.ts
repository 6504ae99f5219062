import type { Kinds } from 'hookonce/testing/contracts'

const envelope = {
  subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
  schema_version: '2.0.0',
  sent_at: '2020-01-01T12:34:56Z',
}

export const wise: Kinds = [
  {
    name: 'a transfer that changed its state',
    body: {
      ...envelope,
      event_type: 'transfers#state-change',
      data: {
        resource: { type: 'transfer', id: 111, profile_id: 222, account_id: 333 },
        current_state: 'processing',
        previous_state: 'incoming_payment_waiting',
        occurred_at: '2020-01-01T12:34:56Z',
      },
    },
    events: ['transfers#state-change'],
    redelivery: { 'json:sent_at': '2020-01-01T13:00:00Z', 'header:x-delivery-id': 'b' },
    another: [
      { 'json:data.current_state': 'funds_converted' },
      { 'json:data.occurred_at': '2020-01-02T12:34:56Z' },
    ],
  },
  {
    name: 'two credits of one second on one balance',
    body: {
      ...envelope,
      event_type: 'balances#credit',
      data: {
        resource: { type: 'balance-account', id: 2, profile_id: 222 },
        amount: 1.23,
        currency: 'EUR',
        post_transaction_balance_amount: 2.34,
        occurred_at: '2020-01-01T12:34:56Z',
        transaction_type: 'credit',
      },
    },
    events: ['balances#credit'],
    another: { 'json:data.post_transaction_balance_amount': 3.57 },
  },
  {
    name: 'an event without a time of occurrence',
    body: {
      ...envelope,
      event_type: 'profiles#verification-state-change',
      data: { resource: { type: 'profile', id: 222 }, current_state: 'verified' },
    },
    events: ['profiles#verification-state-change'],
    another: { 'json:sent_at': '2020-01-02T12:34:56Z' },
  },
  {
    name: 'the test notification of a new subscription',
    headers: { 'x-test-notification': 'true' },
    body: {
      ...envelope,
      event_type: 'transfers#state-change',
      data: { resource: { type: 'transfer', id: 0 }, current_state: 'incoming_payment_waiting' },
    },
    handshake: true,
  },
]
