import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const vercel = defineProvider({
  key: 'vercel',
  name: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The webhook's secret; for an integration, its client secret.
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
