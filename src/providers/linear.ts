import {
  choose,
  defineProvider,
  hmacScheme,
  hours,
  join,
  minutes,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const linear = defineProvider({
  key: 'linear',
  name: 'Linear',
  docs: 'https://linear.app/developers/webhooks',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  verify: hmacScheme({
    signature: 'header:linear-signature',
    encoding: 'hex',
    // This time is signed, the header linear-timestamp is not. Linear's library rejects it after a minute, so a retry,
    // up to seven hours later, must have a new one.
    timestamp: { in: 'json:webhookTimestamp', unit: 'ms', tolerance: minutes(1) },
  }),
  events: {
    id: 'header:linear-delivery',
    type: [join('.', 'json:type', 'json:action'), 'header:linear-event'],
    // The id of a comment or an attachment is not that of its issue, which is the reference.
    reference: [
      'json:data.issueId',
      'json:data.issue.id',
      'json:data.id',
      'json:agentSession.id',
      'json:notification.issueId',
      'json:notification.id',
    ],
    references: {
      issue: [
        'json:data.issueId',
        'json:data.issue.id',
        choose('json:type', { Issue: 'json:data.id' }),
        'json:notification.issueId',
      ],
      user: 'json:actor.id',
    },
    // A new webhookTimestamp changes the body.
    content: 'none',
  },
  retryWindowMs: hours(8),
  answer: { timeLimitMs: seconds(5) },
  keepHeaders: ['linear-delivery', 'linear-event'],
  samples: sampleFile('linear'),
})
