import {
  composite,
  defineProvider,
  hmacScheme,
  hours,
  minutes,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const flutterwave = defineProvider({
  key: 'flutterwave',
  name: 'Flutterwave',
  docs: 'https://developer.flutterwave.com/docs/webhooks',
  confidence: 'verified',
  // Both options are the secret hash of the dashboard. `secret`: version 4 signs the body with it. `verifHash`: version
  // 3 sends it in clear and signs nothing.
  verify: {
    secret: hmacScheme({ signature: 'header:flutterwave-signature', encoding: 'base64' }),
    verifHash: tokenScheme({ in: 'header:verif-hash' }),
  },
  events: {
    // There is no event id, and a charge is sent with each status. Debits of virtual cards have another form.
    id: [composite(['json:type', 'json:event'], 'json:data.id', optional('json:data.status')), 'hash'],
    type: ['json:type', 'json:event', 'json:Type'],
    reference: ['json:data.id', 'json:data.tx_ref'],
    references: { customer: ['json:data.customer.id', 'json:data.customer_id'] },
  },
  retryWindowMs: hours(1.5),
  answer: { timeLimitMs: minutes(1) },
  samples: sampleFile('flutterwave'),
})
