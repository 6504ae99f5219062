import {
  composite,
  days,
  defineProvider,
  optional,
  rsaScheme,
  seconds,
} from '../verification/define-provider.js'

export const wise = defineProvider({
  key: 'wise',
  name: 'Wise',
  docs: 'https://docs.wise.com/guides/developer/webhooks/event-handling',
  confidence: 'verified',
  // The public key is in its documentation: one for the sandbox, another for production.
  verify: rsaScheme({ signature: 'header:x-signature-sha256', encoding: 'base64' }),
  events: {
    // X-Delivery-Id is not signed, and whether a retry keeps it is not documented. These are signed. Movements on one
    // balance may fall in one second, so what they leave behind counts too.
    id: [
      composite(
        'json:subscription_id',
        'json:event_type',
        'json:data.resource.id',
        'json:data.occurred_at',
        optional('json:data.current_state'),
        optional('json:data.step_id'),
        optional('json:data.amount'),
        optional('json:data.post_transaction_balance_amount'),
        optional(['json:data.transaction_id', 'json:data.transfer_reference']),
      ),
      // A few kinds have no time of occurrence.
      'hash',
    ],
    type: 'json:event_type',
    reference: 'json:data.resource.id',
    // unchecked: whether sent_at is renewed on a retry; if it is, retries are reported as conflicts.
  },
  // When a subscription is made; about no real resource.
  handshakes: [{ when: { 'header:x-test-notification': 'true' }, signed: true, reply: {} }],
  retryWindowMs: days(14),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-delivery-id'],
  samples: {
    'transfers#state-change': {
      data: {
        resource: { type: 'transfer', id: '{id:number}', profile_id: 222, account_id: 333 },
        current_state: 'outgoing_payment_sent',
        previous_state: 'funds_converted',
        occurred_at: '2026-11-15T12:00:00Z',
      },
      subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
      event_type: 'transfers#state-change',
      schema_version: '2.0.0',
      sent_at: '{now:iso}',
    },
    'balances#credit': {
      data: {
        resource: { type: 'balance-account', id: 2, profile_id: 222 },
        amount: 1.23,
        currency: 'EUR',
        post_transaction_balance_amount: '{id:number}',
        occurred_at: '2026-11-15T12:00:00Z',
        transaction_type: 'credit',
      },
      subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
      event_type: 'balances#credit',
      schema_version: '2.0.0',
      sent_at: '{now:iso}',
    },
  },
  sampleId: 'number',
})
