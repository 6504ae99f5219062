import { defineProvider, minutes, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const prismic = defineProvider({
  key: 'prismic',
  name: 'Prismic',
  docs: 'https://prismic.io/docs/webhooks',
  confidence: 'verified',
  // The webhook's secret stands in the body; null where none was set, and then the delivery is refused.
  verify: tokenScheme({ in: 'json:secret' }),
  // There is no event id. Each publication has a new ref, so equal bytes are one event; a test from the UI is the same
  // bytes every time.
  events: { id: 'hash', type: 'json:type', reference: ['json:masterRef', 'json:domain'] },
  retryWindowMs: minutes(50),
  samples: sampleFile('prismic'),
})
