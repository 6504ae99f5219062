import { defineProvider, hmacScheme, hours, join, minutes, seconds } from '../verification/define-provider.js'

export const linear = defineProvider({
  key: 'linear',
  name: 'Linear',
  docs: 'https://linear.app/developers/webhooks',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  verify: hmacScheme({
    signature: 'header:linear-signature',
    encoding: 'hex',
    // The header linear-timestamp is not signed, this is. Linear's library refuses it after a minute, so a retry, which
    // comes up to seven hours later, must have a new one.
    timestamp: { in: 'json:webhookTimestamp', unit: 'ms', toleranceMs: minutes(1) },
  }),
  events: {
    id: 'header:linear-delivery',
    type: [join('.', 'json:type', 'json:action'), 'header:linear-event'],
    reference: ['json:data.id', 'json:agentSession.id', 'json:notification.id'],
    // A new webhookTimestamp changes the body.
    content: 'none',
  },
  retryWindowMs: hours(8),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['linear-delivery', 'linear-event'],
  samples: {
    'Issue.create': {
      action: 'create',
      type: 'Issue',
      createdAt: '{now:iso}',
      actor: { id: 'b5ea5f1f-8adc-4f52-b4bd-ab4e84cf51ba', type: 'user', name: 'Ada' },
      organizationId: '0d8a7a1b-3a5e-4d6f-9a0c-0a6a7b5c1d2e',
      data: { id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9', title: 'Found a bug ({id})', priority: 2 },
      url: 'https://linear.app/acme/issue/ACM-7',
      webhookTimestamp: '{now:ms}',
      webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
    },
    'Comment.update': {
      action: 'update',
      type: 'Comment',
      createdAt: '{now:iso}',
      organizationId: '0d8a7a1b-3a5e-4d6f-9a0c-0a6a7b5c1d2e',
      data: { id: '539068e2-ae88-4d09-bd75-22eb4a59612f', body: 'Indeed ({id})' },
      updatedFrom: { body: 'Indee' },
      url: 'https://linear.app/acme/issue/ACM-7#comment-539068e2',
      webhookTimestamp: '{now:ms}',
      webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
    },
  },
})
