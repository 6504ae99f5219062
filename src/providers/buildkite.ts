import { defineProvider, hmacScheme, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const buildkite = defineProvider({
  key: 'buildkite',
  name: 'Buildkite',
  docs: 'https://buildkite.com/docs/apis/webhooks/pipelines',
  confidence: 'verified',
  // The webhook has one token. Its setting decides whether it signs (`secret`) or is sent in clear (`token`).
  verify: {
    secret: hmacScheme({
      signature: {
        in: 'header:x-buildkite-signature',
        pairs: { signature: 'signature', timestamp: 'timestamp' },
      },
      encoding: 'hex',
      signed: '{timestamp}.{body}',
      timestamp: { in: 'signature', unit: 's' },
    }),
    token: tokenScheme({ in: 'header:x-buildkite-token' }),
  },
  // There is no documented event id; a build that runs again has other times.
  events: {
    id: 'hash',
    type: ['json:event', 'header:x-buildkite-event'],
    reference: ['json:build.id', 'json:job.id', 'json:agent.id'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-buildkite-event'],
  sampleHeaders: { 'x-buildkite-event': '{type}' },
  samples: sampleFile('buildkite'),
})
