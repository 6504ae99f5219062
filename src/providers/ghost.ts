import { composite, defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const ghost = defineProvider({
  key: 'ghost',
  name: 'Ghost',
  docs: 'https://docs.ghost.org/webhooks',
  confidence: 'verified',
  verify: hmacScheme({
    // `sha256=<hex>, t=<ms>`; there is no header at all when the webhook has no secret.
    signature: { in: 'header:x-ghost-signature', pairs: { signature: 'sha256', timestamp: 't' } },
    encoding: 'hex',
    // The body first, nothing between. Older releases signed the body alone; those are refused.
    signed: '{body}{timestamp}',
    timestamp: { in: 'signature', unit: 'ms' },
  }),
  events: {
    // No event id; what a post or member was and is, with its time of change, tells changes apart. `site.changed` has
    // an empty body each time, so none of those is taken for another.
    id: [composite('keys:event', 'hash'), 'unique'],
    // unchecked: which releases name the event in the body. Older ones do not: a webhook per event, each its own source.
    type: ['json:event', 'keys:event'],
    reference: ['json:*.current.id', 'json:*.previous.id'],
  },
  contentGuard: 'accept',
  // Five retries at once, with the timestamp of the first attempt.
  retryWindowMs: minutes(3),
  // A 410 deletes the webhook.
  answer: { timeLimitMs: seconds(2) },
  samples: sampleFile('ghost'),
})
