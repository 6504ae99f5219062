import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const trello = defineProvider({
  key: 'trello',
  name: 'Trello',
  docs: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
  confidence: 'verified',
  // The URL is the callbackURL exactly as registered; behind a proxy give it as `publicUrl`. The secret is the
  // application's (OAuth) secret.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-trello-webhook',
    encoding: 'base64',
    signed: '{body}{url}',
  }),
  events: {
    // One action reaches every webhook on its board, list or card under the same id.
    id: 'json:action.id',
    type: 'json:action.type',
    reference: ['json:action.data.card.id', 'json:model.id'],
    // `model` and `webhook` are those of the webhook and of the moment, and consecutiveFailures counts up.
    content: 'none',
  },
  // unchecked: at creation the callback URL must answer a HEAD with 200.
  handshakes: [{ when: { method: 'HEAD' }, signed: false, reply: {} }],
  // After 30, 60 and 120 seconds.
  retryWindowMs: seconds(210),
  samples: sampleFile('trello'),
})
