import { days, defineProvider, hmacScheme, join, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const heroku = defineProvider({
  key: 'heroku',
  name: 'Heroku (app webhooks)',
  docs: 'https://devcenter.heroku.com/articles/app-webhooks',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:heroku-webhook-hmac-sha256', encoding: 'base64' }),
  events: {
    id: 'json:webhook_metadata.event.id',
    type: join('.', 'json:webhook_metadata.event.include', optional('json:action')),
    reference: 'json:data.id',
    // webhook_metadata.attempt.id changes with each attempt.
    content: 'none',
  },
  // Level `sync`. Level `notify` has one attempt.
  retryWindowMs: days(3),
  samples: sampleFile('heroku'),
})
