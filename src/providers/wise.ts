import {
  composite,
  days,
  defineProvider,
  optional,
  rsaScheme,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
  samples: sampleFile('wise'),
  sampleId: 'number',
})
