import { choose, defineProvider, part, seconds } from '../verification/define-provider.js'
import { polarList } from './lists/polar.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const polar = defineProvider({
  key: 'polar',
  name: 'Polar',
  docs: 'https://docs.polar.sh/integrate/webhooks/delivery',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Standard Webhooks, except for the secret: its text is the key, with its prefix and not decoded.
  verify: standardHmac('webhook', { secret: {} }),
  events: {
    id: 'header:webhook-id',
    type: 'json:type',
    reference: 'json:data.id',
    references: {
      customer: [choose(part('.', 0, 'json:type'), { customer: 'json:data.id' }), 'json:data.customer_id'],
      order: [choose(part('.', 0, 'json:type'), { order: 'json:data.id' }), 'json:data.order_id'],
      subscription: [
        choose(part('.', 0, 'json:type'), { subscription: 'json:data.id' }),
        'json:data.subscription_id',
      ],
    },
  },
  retryWindowMs: null,
  list: polarList,
  disables: {
    when: 'disables an endpoint after 10 failed deliveries in a row',
    again: 'Enable it in the Polar dashboard, Settings, Webhooks.',
    docs: 'https://github.com/polarsource/polar/issues/8815',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('polar'),
})
