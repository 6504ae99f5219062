import { composite, defineProvider, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const gitlab = defineProvider({
  key: 'gitlab',
  name: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  confidence: 'verified',
  // `secret`: the secret token, sent verbatim, signs nothing. `signingSecret`: the signing token (`whsec_...`, 2026),
  // which is Standard Webhooks; webhook-id then equals Idempotency-Key.
  verify: {
    secret: tokenScheme({ in: 'header:x-gitlab-token' }),
    signingSecret: standardHmac('webhook'),
  },
  events: {
    // Since 17.4. X-Gitlab-Event-UUID (since 14.8) is shared along a chain of webhooks, so the body counts too. Before
    // that there is nothing: better a delivery handled again than an equal push lost.
    id: [
      'header:webhook-id',
      'header:idempotency-key',
      composite('header:x-gitlab-event-uuid', 'hash'),
      'unique',
    ],
    type: ['header:x-gitlab-event', 'json:object_kind'],
    reference: ['json:object_attributes.id', 'json:checkout_sha', 'json:project.path_with_namespace'],
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-gitlab-event', 'x-gitlab-instance', 'idempotency-key'],
  samples: sampleFile('gitlab'),
})
