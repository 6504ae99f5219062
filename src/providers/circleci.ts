import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const circleci = defineProvider({
  key: 'circleci',
  name: 'CircleCI (outbound webhooks)',
  docs: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
  confidence: 'verified',
  // A list of versions; only v1 exists.
  verify: hmacScheme({
    signature: { in: 'header:circleci-signature', pairs: { signature: 'v1' } },
    encoding: 'hex',
  }),
  events: { id: 'json:id', type: 'json:type', reference: ['json:pipeline.id', 'json:workflow.id'] },
  // It retries for an undocumented time.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['circleci-event-type'],
  sampleHeaders: { 'circleci-event-type': '{type}' },
  samples: sampleFile('circleci'),
})
