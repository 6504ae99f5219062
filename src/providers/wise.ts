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
  sharedKey: { namedBy: 'subscriptionId', in: 'json:subscription_id' },
  options: {
    subscriptionId: {
      what: 'The id of the webhook subscription, or a list of ids; events of other subscriptions are rejected',
      required: true,
      list: true,
      example: '01234567-89ab-cdef-0123-456789abcdef',
    },
  },
  events: {
    // X-Delivery-Id is not signed, and it is undocumented whether a retry has the same one. These values are signed. Two
    // movements on one balance can happen in one second, so the id also has the resulting amount.
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
      // Some events have no time of occurrence.
      'hash',
    ],
    type: 'json:event_type',
    reference: 'json:data.resource.id',
    // unchecked: whether a retry has a new sent_at; if so, retries are reported as conflicts.
  },
  // A test, sent when a subscription is created. Its id is not known yet, so the test may have any.
  handshakes: [{ when: { 'header:x-test-notification': 'true' }, signed: true, reply: {} }],
  retryWindowMs: days(14),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['x-delivery-id'],
  samples: sampleFile('wise'),
  sampleId: 'number',
})
