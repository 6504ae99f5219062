import type { Kinds } from 'hookonce/testing/contracts'

export const googlePubsub: Kinds = [
  {
    name: 'a wrapped message',
    body: {
      message: {
        data: { $base64: 'Hello' },
        messageId: '2070443601311540',
        publishTime: '2021-02-26T19:13:55.749Z',
      },
      subscription: 'projects/myproject/subscriptions/mysubscription',
      deliveryAttempt: 1,
    },
    events: ['pubsub.push'],
    redelivery: { 'json:deliveryAttempt': 2 },
    another: { 'json:message.messageId': '2070443601311541' },
  },
  {
    name: 'an unwrapped message with metadata',
    docs: 'https://docs.cloud.google.com/pubsub/docs/payload-unwrapping',
    headers: {
      'x-goog-pubsub-subscription-name': 'projects/myproject/subscriptions/mysubscription',
      'x-goog-pubsub-message-id': '2070443601311540',
    },
    body: { status: 'ok' },
    events: ['pubsub.push'],
    another: { 'header:x-goog-pubsub-message-id': '2070443601311541' },
  },
  {
    name: 'an unwrapped message with metadata that is not JSON',
    docs: 'https://docs.cloud.google.com/pubsub/docs/payload-unwrapping',
    format: 'text',
    headers: {
      'x-goog-pubsub-subscription-name': 'projects/myproject/subscriptions/mysubscription',
      'x-goog-pubsub-message-id': '2070443601311540',
    },
    body: 'Hello',
    events: ['pubsub.push'],
    another: { 'header:x-goog-pubsub-message-id': '2070443601311541' },
  },
]
