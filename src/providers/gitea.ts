import { defineProvider, hmacScheme, join, optional, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const repository = 'json:repository.full_name'

export const gitea = defineProvider({
  key: 'gitea',
  name: 'Gitea / Forgejo',
  docs: 'https://docs.gitea.com/usage/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({
    // A webhook without a secret sends an empty header, which is rejected.
    signature: { in: ['header:x-gitea-signature', 'header:x-forgejo-signature'] },
    encoding: 'hex',
    // The JSON is signed, also when it is in the form field `payload`.
    signed: '{document}',
  }),
  document: { form: 'payload' },
  events: {
    id: ['header:x-gitea-delivery', 'header:x-forgejo-delivery'],
    type: join('.', ['header:x-gitea-event', 'header:x-forgejo-event'], optional('json:action')),
    // Issues and pull requests of a repository share one series of numbers.
    reference: [
      join('#', repository, 'json:pull_request.number'),
      join('#', repository, 'json:issue.number'),
      join('@', repository, 'json:ref'),
      repository,
      'json:organization.username',
    ],
  },
  typeSeparator: '.',
  // No automatic retries; a user can request a delivery again at any time.
  retryWindowMs: null,
  // The default of DELIVER_TIMEOUT of the server.
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: [
    'x-gitea-delivery',
    'x-gitea-event',
    'x-gitea-event-type',
    'x-forgejo-delivery',
    'x-forgejo-event',
  ],
  samples: sampleFile('gitea'),
})
