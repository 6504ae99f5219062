import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const vercel = defineProvider({
  key: 'vercel',
  name: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The secret of the webhook, or the client secret of the integration.
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:x-vercel-signature', encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: ['json:payload.deployment.id', 'json:payload.project.id'],
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(30) },
  samples: sampleFile('vercel'),
})
