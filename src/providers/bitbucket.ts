import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const repository = ['json:repository.full_name', 'json:repository.uuid'] as const

export const bitbucket = defineProvider({
  key: 'bitbucket',
  name: 'Bitbucket Cloud',
  docs: 'https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/',
  confidence: 'verified',
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    // Every attempt has the same one. x-hook-uuid is the id of the webhook.
    id: 'header:x-request-uuid',
    type: 'header:x-event-key',
    // Numbers of pull requests and of issues are those of their repository.
    reference: [
      join('', repository, 'const:/pull-requests/', 'json:pullrequest.id'),
      join('', repository, 'const:/issues/', 'json:issue.id'),
      // A deleted branch has no `new`.
      join('@', repository, ['json:push.changes.0.new.name', 'json:push.changes.0.old.name']),
      join('@', repository, ['json:commit_status.commit.hash', 'json:commit.hash']),
      repository,
    ],
  },
  // Two more attempts, at undocumented times.
  retryWindowMs: null,
  keepHeaders: ['x-event-key', 'x-hook-uuid', 'x-request-uuid', 'x-attempt-number'],
  sampleHeaders: { 'x-hook-uuid': '2ea0ab15-e6bd-4b8f-a5a9-2b4b5b2b3b5e', 'x-attempt-number': '1' },
  samples: sampleFile('bitbucket'),
})
