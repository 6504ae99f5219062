import { defineProvider } from '../verification/define-provider.js'
import { lithicList } from './lists/lithic.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const lithic = defineProvider({
  key: 'lithic',
  name: 'Lithic (cards)',
  docs: 'https://docs.lithic.com/docs/events-api',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Standard Webhooks, as in its library (lithic 0.145.0).
  verify: standardHmac('webhook'),
  events: {
    id: 'header:webhook-id',
    type: 'json:event_type',
    // A transaction, an account holder or a payment has a token; an event of a card has only the token of the card.
    reference: ['json:token', 'json:card_token', 'json:financial_account_token', 'json:account_token'],
  },
  retryWindowMs: null,
  list: lithicList,
  sampleId: 'msg_',
  samples: sampleFile('lithic'),
})
