import type { Kinds } from 'hookonce/testing/contracts'

export const ebay: Kinds = [
  {
    name: 'a deleted account',
    body: {
      metadata: { topic: 'MARKETPLACE_ACCOUNT_DELETION', schemaVersion: '1.0' },
      notification: {
        notificationId: '49feeaeb-4982-42d9-a377-9645b8479411_33f7e043-fed8-442b-9d44-791923bd9a6d',
        publishAttemptCount: 1,
        data: { username: 'test_user', userId: 'ma8vp1jySJC' },
      },
    },
    events: ['MARKETPLACE_ACCOUNT_DELETION'],
    redelivery: { 'json:notification.publishAttemptCount': 2 },
    another: { 'json:notification.notificationId': '59feeaeb-4982-42d9-a377-9645b8479411_33f7e043' },
  },
  {
    name: 'the challenge of the endpoint',
    method: 'GET',
    query: { challenge_code: 'a8628072' },
    handshake: true,
  },
]
