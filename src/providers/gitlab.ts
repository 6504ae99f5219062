import { composite, defineProvider, join, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const gitlab = defineProvider({
  key: 'gitlab',
  name: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  confidence: 'verified',
  // `secret`: the secret token, which is sent in clear and signs nothing. `signingSecret`: the signing token
  // (`whsec_...`, 2026) of Standard Webhooks; webhook-id then equals Idempotency-Key.
  verify: {
    secret: tokenScheme({ in: 'header:x-gitlab-token' }),
    signingSecret: standardHmac('webhook'),
  },
  events: {
    // Since 17.4. A chain of webhooks shares X-Gitlab-Event-UUID (since 14.8), so the id also has the hash of the body.
    // Older releases have no id: handling a delivery twice is better than losing an equal push.
    id: [
      'header:webhook-id',
      'header:idempotency-key',
      composite('header:x-gitlab-event-uuid', 'hash'),
      'unique',
    ],
    type: ['header:x-gitlab-event', 'json:object_kind'],
    // A comment has an id of its own: its reference is what it is about.
    reference: [
      'json:object_attributes.noteable_id',
      'json:object_attributes.id',
      join('@', 'json:project.path_with_namespace', 'json:ref'),
      'json:project.path_with_namespace',
    ],
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-gitlab-event', 'x-gitlab-instance', 'idempotency-key'],
  samples: sampleFile('gitlab'),
})
