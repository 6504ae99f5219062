import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const trello = defineProvider({
  key: 'trello',
  name: 'Trello',
  docs: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
  confidence: 'verified',
  // The signed URL is exactly the registered callbackURL; behind a proxy set it as `publicUrl`. The secret is the OAuth
  // secret of the application.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-trello-webhook',
    encoding: 'base64',
    signed: '{body}{url}',
  }),
  events: {
    // An action has the same id for every webhook of its board, list or card.
    id: 'json:action.id',
    type: 'json:action.type',
    reference: ['json:action.data.card.id', 'json:model.id'],
    // `model` and `webhook` have values of the time of sending, and consecutiveFailures changes with each attempt.
    content: 'none',
  },
  // unchecked: when the webhook is created, the callback URL must answer a HEAD with 200.
  handshakes: [{ when: { method: 'HEAD' }, signed: false, reply: {} }],
  // Three retries, after 30, 60 and 120 seconds.
  retryWindowMs: seconds(210),
  samples: sampleFile('trello'),
})
