import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const gitea = defineProvider({
  key: 'gitea',
  name: 'Gitea / Forgejo',
  docs: 'https://docs.gitea.com/usage/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({
    // Without a secret the header is there and empty, which is refused.
    signature: { in: ['header:x-gitea-signature', 'header:x-forgejo-signature'] },
    encoding: 'hex',
    // The JSON is signed, also where it comes as the form field `payload`.
    signed: '{document}',
  }),
  document: { form: 'payload' },
  events: {
    id: ['header:x-gitea-delivery', 'header:x-forgejo-delivery'],
    type: ['header:x-gitea-event', 'header:x-forgejo-event'],
    reference: ['json:repository.full_name', 'json:organization.username'],
  },
  // It does not retry by itself; a delivery can be ordered again at any time.
  retryWindowMs: null,
  // DELIVER_TIMEOUT of the server, by default.
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
