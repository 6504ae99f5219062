import { days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const github = defineProvider({
  key: 'github',
  name: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // x-hub-signature (SHA-1) is for old receivers and is not read.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' }, encoding: 'hex' }),
  // The body is JSON, or a form with the JSON in `payload`: the webhook has a setting for it.
  document: { form: 'payload' },
  events: {
    id: 'header:x-github-delivery',
    type: 'header:x-github-event',
    reference: ['json:repository.full_name', 'json:organization.login'],
  },
  // No automatic retries; a user can request a delivery again for three days.
  retryWindowMs: days(3),
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-github-delivery', 'x-github-event', 'x-github-hook-id'],
  samples: sampleFile('github'),
})
