import { defineProvider, hmacScheme, join, optional, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const sentry = defineProvider({
  key: 'sentry',
  name: 'Sentry (integration platform)',
  docs: 'https://docs.sentry.io/integrations/integration-platform/webhooks/',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The secret is the client secret of the integration. sentry-hook-timestamp is not signed.
  verify: hmacScheme({ signature: 'header:sentry-hook-signature', encoding: 'hex' }),
  events: {
    // A new one for each delivery (app_platform_event.py): a repeated event is found by its content, not by this id.
    id: 'header:request-id',
    type: join('.', 'header:sentry-hook-resource', optional('json:action')),
    reference: [
      'json:data.issue.id',
      'json:data.event.issue_id',
      'json:data.error.issue_id',
      'json:data.metric_alert.id',
      'json:data.issue_id',
      'json:installation.uuid',
    ],
  },
  retryWindowMs: null,
  // unchecked
  answer: { timeLimitMs: seconds(1) },
  keepHeaders: ['request-id', 'sentry-hook-resource', 'sentry-hook-timestamp'],
  sampleHeaders: { 'sentry-hook-resource': 'issue' },
  samples: sampleFile('sentry'),
})
