import { composite, defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const ghost = defineProvider({
  key: 'ghost',
  name: 'Ghost',
  docs: 'https://docs.ghost.org/webhooks',
  confidence: 'verified',
  verify: hmacScheme({
    // `sha256=<hex>, t=<ms>`; a webhook without a secret sends no header.
    signature: { in: 'header:x-ghost-signature', pairs: { signature: 'sha256', timestamp: 't' } },
    encoding: 'hex',
    // The body comes first, without a separator. Older releases sign only the body and are rejected.
    signed: '{body}{timestamp}',
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  events: {
    // There is no event id. The body has the old and the new state of a post or member with the time of the change.
    // `site.changed` always has an empty body, so each delivery is a new event.
    id: [composite('keys:event', 'hash'), 'unique'],
    // unchecked: which releases have the event name in the body. For older ones use one webhook and source per event.
    type: ['json:event', 'keys:event'],
    reference: ['json:*.current.id', 'json:*.previous.id'],
  },
  contentGuard: 'accept',
  // Five immediate retries, with the timestamp of the first attempt.
  retryWindowMs: minutes(3),
  // A 410 deletes the webhook.
  answer: { timeLimitMs: seconds(2) },
  samples: sampleFile('ghost'),
})
