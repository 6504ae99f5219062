import { defineProvider, hmacScheme, join, optional, seconds } from '../verification/define-provider.js'

export const sentry = defineProvider({
  key: 'sentry',
  name: 'Sentry (integration platform)',
  docs: 'https://docs.sentry.io/integrations/integration-platform/webhooks/',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The secret is the integration's client secret. sentry-hook-timestamp is not signed.
  verify: hmacScheme({ signature: 'header:sentry-hook-signature', encoding: 'hex' }),
  events: {
    // Made anew for each sending (app_platform_event.py), so a second sending is caught by its content, not by this.
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
  samples: {
    'issue.created': {
      action: 'created',
      installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
      data: {
        issue: {
          id: '1170820242',
          shortId: 'PYTHON-E',
          title: 'ReferenceError: heck is not defined ({id})',
          level: 'error',
          status: 'unresolved',
        },
      },
      actor: { type: 'application', id: 'sentry', name: 'Sentry' },
    },
    'issue.resolved': {
      action: 'resolved',
      installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
      data: { issue: { id: '1170820242', shortId: 'PYTHON-E', status: 'resolved', culprit: '{id}' } },
      actor: { type: 'user', id: 789, name: 'Jane' },
    },
  },
})
