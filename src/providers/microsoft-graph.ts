import { composite, defineProvider, hours, seconds, tokenScheme } from '../verification/define-provider.js'
import { reject } from '../verification/scheme.js'
import { sampleFile } from './sample.js'

const clientState = tokenScheme({ in: 'json:value[].clientState' })

export const microsoftGraph = defineProvider({
  key: 'microsoftGraph',
  name: 'Microsoft Graph change notifications',
  docs: 'https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks',
  confidence: 'verified',
  // The clientState of the subscriptions. A delivery may mix subscriptions, so use the same one for all of yours. The
  // subscription of a stranger for the same URL may have none, so every notification must have it. The
  // validationTokens of encrypted content are not read.
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
    // The id is optional, and many workloads send none. Mail and calendar have the version of the changed object. Others
    // (drives, presence, lifecycle events) send equal notifications for different changes: each is a new event.
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
