import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const circleci = defineProvider({
  key: 'circleci',
  name: 'CircleCI (outbound webhooks)',
  docs: 'https://circleci.com/docs/guides/integration/outbound-webhooks/',
  confidence: 'verified',
  // A list of versions, of which only v1 exists.
  verify: hmacScheme({
    signature: { in: 'header:circleci-signature', pairs: { signature: 'v1' } },
    encoding: 'hex',
  }),
  events: { id: 'json:id', type: 'json:type', reference: ['json:pipeline.id', 'json:workflow.id'] },
  // It retries, and does not publish for how long.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['circleci-event-type'],
  sampleHeaders: { 'circleci-event-type': '{type}' },
  samples: {
    'workflow-completed': {
      id: '{id}',
      type: 'workflow-completed',
      happened_at: '{now:iso}',
      webhook: { id: 'cf8c4fdd-0587-4da1-b4ca-4846e9640af9', name: 'Sample Webhook' },
      project: { id: '84996744-a854-4f5e-aea3-04e2851dc1d2', slug: 'github/circleci/webhook-service' },
      workflow: { id: 'fda08377-fe7e-46b1-8992-3a7aaecac9c3', name: 'build-test-deploy', status: 'success' },
      pipeline: { id: '1285fe1d-d3a6-44fc-8886-8979558254c4', number: 130 },
    },
    'job-completed': {
      id: '{id}',
      type: 'job-completed',
      happened_at: '{now:iso}',
      webhook: { id: 'cf8c4fdd-0587-4da1-b4ca-4846e9640af9', name: 'Sample Webhook' },
      job: { id: '8bd71c28-4969-3677-8940-3e3a61c46f9c', name: 'test', status: 'success', number: 136 },
      workflow: { id: 'fda08377-fe7e-46b1-8992-3a7aaecac9c3', name: 'build-test-deploy' },
      pipeline: { id: '1285fe1d-d3a6-44fc-8886-8979558254c4', number: 130 },
    },
  },
})
