import { defineProvider, hmacScheme } from '../verification/define-provider.js'

export const bitbucketServer = defineProvider({
  key: 'bitbucketServer',
  name: 'Bitbucket Data Center, Bitbucket Server',
  docs: 'https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html',
  confidence: 'verified',
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    id: 'header:x-request-id',
    type: 'header:x-event-key',
    reference: ['json:pullRequest.id', 'json:repository.id'],
  },
  // "Test connection". unchecked: receivers answer it before they look for a signature, so none is asked for.
  handshakes: [{ when: { 'header:x-event-key': 'diagnostics:ping' }, signed: false, reply: {} }],
  retryWindowMs: null,
  keepHeaders: ['x-event-key', 'x-request-id'],
  samples: {
    'repo:refs_changed': {
      eventKey: 'repo:refs_changed',
      date: '2026-09-19T09:58:11+1000',
      actor: { name: 'admin', id: 1, displayName: 'Administrator' },
      repository: { slug: 'repository', id: 84, name: 'repository', project: { key: 'PROJ', id: 84 } },
      changes: [
        {
          ref: { id: 'refs/heads/{id}', displayId: '{id}', type: 'BRANCH' },
          fromHash: 'ecddabb624f6f5ba43816f5926e580a5f680a932',
          toHash: '178864a7d521b6f5e720b386b2c2b0ef8563e0dc',
          type: 'UPDATE',
        },
      ],
    },
    'pr:opened': {
      eventKey: 'pr:opened',
      date: '2026-09-19T09:58:11+1000',
      actor: { name: 'admin', id: 1 },
      pullRequest: {
        id: 1,
        title: 'A new title {id}',
        state: 'OPEN',
        fromRef: { id: 'refs/heads/feature', latestCommit: 'ef8755f06ee4b28c96a847a95cb8ec8ed6ddd1ca' },
        toRef: { id: 'refs/heads/main', repository: { slug: 'repository', id: 84 } },
      },
    },
  },
})
