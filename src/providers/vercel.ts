import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'

export const vercel = defineProvider({
  key: 'vercel',
  name: 'Vercel',
  docs: 'https://vercel.com/docs/webhooks/webhooks-api',
  confidence: 'verified',
  aliases: { clientSecret: 'secret' },
  // The webhook's secret; for an integration, its client secret.
  verify: hmacScheme({ algorithm: 'sha1', signature: 'header:x-vercel-signature', encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: ['json:payload.deployment.id', 'json:payload.project.id'],
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(30) },
  samples: {
    'deployment.succeeded': {
      id: '{id}',
      type: 'deployment.succeeded',
      createdAt: '{now:ms}',
      region: 'sfo1',
      payload: {
        team: { id: 'team_nLlpyC6RE1qxqglFKbrMxlud' },
        user: { id: 'Xk2L8mZ1qW' },
        deployment: { id: 'dpl_FdDw2mQcaf5Pp8s', name: 'my-app', url: 'my-app-a1b2c3.vercel.app', meta: {} },
        project: { id: 'prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB' },
        target: 'production',
      },
    },
    'project.created': {
      id: '{id}',
      type: 'project.created',
      createdAt: '{now:ms}',
      region: null,
      payload: {
        team: { id: 'team_nLlpyC6RE1qxqglFKbrMxlud' },
        user: { id: 'Xk2L8mZ1qW' },
        project: { id: 'prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB', name: 'my-app' },
      },
    },
  },
})
