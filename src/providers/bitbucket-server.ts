import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const bitbucketServer = defineProvider({
  key: 'bitbucketServer',
  name: 'Bitbucket Data Center, Bitbucket Server',
  docs: 'https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html',
  confidence: 'verified',
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    id: 'header:x-request-id',
    type: 'header:x-event-key',
    // The number of a pull request is that of its repository.
    reference: [
      join('/pull-requests/', 'json:pullRequest.toRef.repository.id', 'json:pullRequest.id'),
      join('@', 'json:repository.id', 'json:changes.0.ref.id'),
      join('@', 'json:repository.id', 'json:commit'),
      'json:pullRequest.id',
      'json:repository.id',
    ],
  },
  // "Test connection". unchecked: other receivers answer it without checking a signature, so none is required.
  handshakes: [{ when: { 'header:x-event-key': 'diagnostics:ping' }, signed: false, reply: {} }],
  retryWindowMs: null,
  keepHeaders: ['x-event-key', 'x-request-id'],
  samples: sampleFile('bitbucket-server'),
})
