import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Admin webhooks with a secret. Connect and OAuth apps send a JWT that does not cover the body. */
export const jira = defineProvider({
  key: 'jira',
  name: 'Jira Cloud (admin webhooks)',
  docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
  confidence: 'verified',
  // The header starts with its method; only the current one is accepted.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    // Unique in the tenant and the same on retries; not signed.
    id: 'header:x-atlassian-webhook-identifier',
    type: 'json:webhookEvent',
    reference: [
      'json:issue.key',
      // These have only the number of the issue.
      'json:worklog.issueId',
      'json:issueLink.sourceIssueId',
      'json:project.key',
      'json:sprint.id',
      'json:version.id',
      'json:board.id',
      'json:user.accountId',
    ],
    references: {
      issue: 'json:issue.key',
      project: ['json:issue.fields.project.key', 'json:project.key'],
      user: 'json:user.accountId',
    },
  },
  // Five retries, at most fifteen minutes apart.
  retryWindowMs: minutes(75),
  keepHeaders: ['x-atlassian-webhook-identifier', 'x-atlassian-webhook-retry', 'x-atlassian-webhook-flow'],
  samples: sampleFile('jira'),
})
