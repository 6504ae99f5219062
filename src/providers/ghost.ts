import { composite, defineProvider, hmacScheme, minutes, seconds } from '../verification/define-provider.js'

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
  samples: {
    'post.published': {
      event: 'post.published',
      post: {
        current: {
          id: '{id}',
          uuid: 'b52f0d0e-3d0a-4a6c-9d3f-0d3b0a3f1f4e',
          title: 'Welcome',
          slug: 'welcome',
          status: 'published',
          updated_at: '{now:iso}',
        },
        previous: { status: 'draft', updated_at: '2026-11-01T09:00:00.000Z' },
      },
    },
    'member.deleted': {
      event: 'member.deleted',
      member: { current: {}, previous: { id: '{id}', email: 'jamie@example.com', updated_at: '{now:iso}' } },
    },
  },
})
