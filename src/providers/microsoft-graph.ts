import { composite, defineProvider, hours, seconds, tokenScheme } from '../verification/define-provider.js'
import { reject } from '../verification/scheme.js'
import { sampleFile } from './sample.js'

const clientState = tokenScheme({ in: 'json:value[].clientState' })

export const microsoftGraph = defineProvider({
  key: 'microsoftGraph',
  name: 'Microsoft Graph change notifications',
  docs: 'https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks',
  confidence: 'verified',
  // The clientState given to each subscription. A delivery may mix subscriptions, so give all of yours the same one; a
  // stranger's that calls the same URL may leave it out, so every notification must have it. The tokens
  // (validationTokens) that come with encrypted content are not looked at.
  verify: {
    ...clientState,
    create(context) {
      const scheme = clientState.create(context)
      const notifications = context.compiler.tokens('value[]')
      const states = context.compiler.tokens('value[].clientState')
      return {
        ...scheme,
        verify: (reading, now) =>
          notifications(reading).length === states(reading).length
            ? scheme.verify(reading, now)
            : reject('missing_signature'),
      }
    },
  },
  events: {
    each: 'value[]',
    // The id is optional, and many workloads leave it out. Mail and calendar name the version of what changed; others
    // (drives, presence, lifecycle events) send equal notifications for distinct changes, so none of those is dropped.
    id: [
      'json:id',
      composite('json:subscriptionId', 'json:changeType', 'json:resource', 'json:resourceData.@odata\\.etag'),
      'unique',
    ],
    type: ['json:lifecycleEvent', 'json:changeType'],
    reference: ['json:resourceData.id', 'json:resource'],
  },
  contentGuard: 'accept',
  handshakes: [
    {
      when: { 'query:validationToken': true },
      signed: false,
      reply: { text: '{query:validationToken}' },
    },
  ],
  retryWindowMs: hours(4),
  answer: { timeLimitMs: seconds(3) },
  samples: sampleFile('microsoft-graph'),
})
