import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Admin webhooks with a secret. Those of Connect and OAuth apps carry a JWT that does not bind the body. */
export const jira = defineProvider({
  key: 'jira',
  name: 'Jira Cloud (admin webhooks)',
  docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
  confidence: 'verified',
  // The header names its method; only today's is taken.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    // Unique in the tenant and the same on retries; unsigned.
    id: 'header:x-atlassian-webhook-identifier',
    type: 'json:webhookEvent',
    reference: ['json:issue.key', 'json:project.key', 'json:sprint.id', 'json:version.id'],
  },
  // Five retries, at most fifteen minutes apart.
  retryWindowMs: minutes(75),
  keepHeaders: ['x-atlassian-webhook-identifier', 'x-atlassian-webhook-retry', 'x-atlassian-webhook-flow'],
  samples: sampleFile('jira'),
})
