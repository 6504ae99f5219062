import { days, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const github = defineProvider({
  key: 'github',
  name: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // x-hub-signature (SHA-1) is sent beside it for old receivers and is not read.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' }, encoding: 'hex' }),
  // The body is JSON or a form with the JSON in `payload`, by the webhook's content type.
  document: { form: 'payload' },
  events: {
    id: 'header:x-github-delivery',
    type: 'header:x-github-event',
    reference: ['json:repository.full_name', 'json:organization.login'],
  },
  // It does not retry by itself; a delivery can be ordered again for three days.
  retryWindowMs: days(3),
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-github-delivery', 'x-github-event', 'x-github-hook-id'],
  samples: {
    push: {
      ref: 'refs/heads/main',
      before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
      after: '59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5',
      repository: { id: 186853002, name: 'hello-world', full_name: 'octocat/hello-world', private: false },
      pusher: { name: 'octocat', email: 'octocat@example.com' },
      commits: [{ id: '{id}', message: 'Say hello', timestamp: '{now:iso}' }],
    },
    issues: {
      action: 'opened',
      issue: {
        id: 73464126,
        number: 7,
        title: 'Found a bug ({id})',
        state: 'open',
        user: { login: 'octocat' },
      },
      repository: { id: 186853002, name: 'hello-world', full_name: 'octocat/hello-world', private: false },
      sender: { login: 'octocat', id: 583231 },
    },
  },
})
