import { defineProvider, minutes, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const prismic = defineProvider({
  key: 'prismic',
  name: 'Prismic',
  docs: 'https://prismic.io/docs/webhooks',
  confidence: 'verified',
  // The body has the secret of the webhook. It is null if there is none; the delivery is then rejected.
  verify: tokenScheme({ in: 'json:secret' }),
  // There is no event id. Each publication has a new ref, so equal bytes are one event. A test from the UI always has
  // the same bytes.
  events: { id: 'hash', type: 'json:type', reference: ['json:masterRef', 'json:domain'] },
  retryWindowMs: minutes(50),
  samples: sampleFile('prismic'),
})
