import { days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

/** Paddle Billing. `paddleClassic` is the older product. */
export const paddle = defineProvider({
  key: 'paddle',
  name: 'Paddle Billing',
  docs: 'https://developer.paddle.com/webhooks/signature-verification',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret', secretKey: 'secret', endpointSecret: 'secret' },
  verify: hmacScheme({
    // Several h1 while a secret is being replaced. The secret is used as shown, `pdl_ntfset_` included.
    signature: {
      in: 'header:paddle-signature',
      separator: ';',
      pairs: { signature: 'h1', timestamp: 'ts' },
    },
    encoding: 'hex',
    signed: '{timestamp}:{body}',
    // Its own library allows five seconds, one way; the event id is signed, so a replay inside the window is a duplicate.
    timestamp: { in: 'signature', unit: 's' },
  }),
  events: {
    id: 'json:event_id',
    type: 'json:event_type',
    reference: 'json:data.id',
    // notification_id differs for each destination and each replay of one event.
    content: 'none',
  },
  // The sandbox gives up after 15 minutes.
  retryWindowMs: days(3),
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'evt_',
  samples: {
    'transaction.completed': {
      event_id: '{id}',
      event_type: 'transaction.completed',
      occurred_at: '{now:iso}',
      notification_id: 'ntf_01hv8x29nsh54c7pk0hbysnyzq',
      data: {
        id: 'txn_01hv8wptq8987qeep44cyrewp9',
        status: 'completed',
        customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
        currency_code: 'USD',
        details: { totals: { total: '65215', tax: '5315', grand_total: '65215' } },
      },
    },
    'subscription.created': {
      event_id: '{id}',
      event_type: 'subscription.created',
      occurred_at: '{now:iso}',
      notification_id: 'ntf_01hv8x2axsnvmfsqe6aqdfnykv',
      data: {
        id: 'sub_01hv8x29kz0t586xy6zn1a62ny',
        status: 'active',
        customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
        transaction_id: 'txn_01hv8wptq8987qeep44cyrewp9',
      },
    },
  },
})
