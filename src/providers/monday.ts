import { composite, defineProvider, jwtScheme, minutes, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Webhooks of an app. Webhooks made in the UI or with a personal token are not signed and are rejected. */
export const monday = defineProvider({
  key: 'monday',
  name: 'monday.com',
  docs: 'https://developer.monday.com/api-reference/reference/webhooks',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  // The secret is the signing secret of the app. The token has no `Bearer ` and does not cover the body.
  verify: jwtScheme({
    in: 'header:authorization',
    algorithms: ['HS256'],
    claims: { aud: '{option:audience}' },
    required: ['exp'],
    // unchecked: whether a retry has a new token; `exp` limits its age in both cases.
    issuedAt: { tolerance: minutes(35) },
  }),
  options: {
    audience: {
      what: 'The URL that monday.com calls; tokens for other URLs are then rejected',
      example: 'https://example.com/webhooks/monday',
    },
  },
  events: {
    // unchecked: whether two subscriptions to one change share the trigger. Events of the app itself (install,
    // uninstall, ...) have no trigger, but a time in the body.
    id: [composite('json:event.triggerUuid', optional('json:event.subscriptionId')), 'hash'],
    type: ['json:event.type', 'json:type'],
    reference: ['json:event.pulseId', 'json:event.itemId', 'json:event.boardId'],
    // isRetry is true on a retry.
    content: 'none',
  },
  // Sent when the webhook is created.
  handshakes: [
    { when: { 'json:challenge': true }, signed: false, reply: { json: { challenge: '{json:challenge}' } } },
  ],
  retryWindowMs: minutes(30),
  samples: sampleFile('monday'),
})
