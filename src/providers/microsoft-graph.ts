import { composite, defineProvider, hours, seconds, tokenScheme } from '../verification/define-provider.js'
import { reject } from '../verification/scheme.js'

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
  samples: {
    created: {
      value: [
        {
          id: '{id}',
          subscriptionId: '7f105c7d-2dc5-4530-97cd-4e7ae6534c07',
          subscriptionExpirationDateTime: '{now:iso}',
          clientState: '',
          changeType: 'created',
          resource: 'users/ddfcd489-628b-7d04-b48b-20075df800e5/messages/AAMkADMxZmEtVrbU1e4Kv4o',
          resourceData: {
            '@odata.type': '#Microsoft.Graph.Message',
            '@odata.etag': 'W/"CQAAABYAAADkrWGo7bouTKlsgTZMr9KwAAAUWRHf"',
            id: 'AAMkADMxZmEtVrbU1e4Kv4o',
          },
          tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
        },
      ],
    },
    updated: {
      value: [
        {
          subscriptionId: '7f105c7d-2dc5-4530-97cd-4e7ae6534c07',
          subscriptionExpirationDateTime: '{now:iso}',
          clientState: '',
          changeType: 'updated',
          resource: 'users/ddfcd489-628b-7d04-b48b-20075df800e5/events/AAMkADMxZmEtVrbVQA',
          resourceData: {
            '@odata.type': '#Microsoft.Graph.Event',
            '@odata.etag': 'W/"{id}"',
            id: 'AAMkADMxZmEtVrbVQA',
          },
          tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
        },
      ],
    },
  },
})
