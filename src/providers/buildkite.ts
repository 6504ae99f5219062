import { defineProvider, hmacScheme, tokenScheme } from '../verification/define-provider.js'

export const buildkite = defineProvider({
  key: 'buildkite',
  name: 'Buildkite',
  docs: 'https://buildkite.com/docs/apis/webhooks/pipelines',
  confidence: 'verified',
  // One token, sent either way by the webhook's setting: `secret` where it signs, `token` where it is sent as it is.
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
  // There is no documented event id; a build that runs again has other times in it.
  events: {
    id: 'hash',
    type: ['json:event', 'header:x-buildkite-event'],
    reference: ['json:build.id', 'json:job.id', 'json:agent.id'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-buildkite-event'],
  sampleHeaders: { 'x-buildkite-event': '{type}' },
  samples: {
    'build.finished': {
      event: 'build.finished',
      build: {
        id: '{id}',
        number: 27,
        state: 'passed',
        branch: 'main',
        commit: 'a1b2c3d4',
        started_at: '{now:iso}',
        finished_at: '{now:iso}',
      },
      pipeline: { id: '5e8a2a0f-3b5a-4d3a-9f6b-6f1d5b7b7f10', slug: 'my-pipeline' },
      sender: { id: '8a7693f8-dbae-4783-9137-84090fce9045', name: 'Some person' },
    },
    'job.finished': {
      event: 'job.finished',
      job: { id: '{id}', type: 'script', state: 'passed', exit_status: 0, finished_at: '{now:iso}' },
      build: { id: '1c6a2b0e-7f64-4d0c-8f55-d5a5a8d6b0ad', number: 27, state: 'running' },
      pipeline: { id: '5e8a2a0f-3b5a-4d3a-9f6b-6f1d5b7b7f10', slug: 'my-pipeline' },
    },
  },
})
