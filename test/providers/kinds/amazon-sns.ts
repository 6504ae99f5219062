import type { Kinds } from 'hookonce/testing/contracts'

const shared = {
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Timestamp: '',
  SignatureVersion: '2',
  Signature: '',
  SigningCertURL: 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb72.pem',
}

export const amazonSns: Kinds = [
  {
    name: 'a notification, signed with version 2',
    docs: 'https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html',
    body: { ...shared, Type: 'Notification', Subject: 'My First Message', Message: 'Hello world!' },
    events: ['Notification'],
    another: { 'json:MessageId': '23d62f13-040e-4a0e-89d6-6d9e33904fe6' },
  },
  {
    name: 'a notification without a subject, signed with version 1',
    body: { ...shared, SignatureVersion: '1', Type: 'Notification', Message: 'Hello world!' },
    events: ['Notification'],
    another: { 'json:MessageId': '23d62f13-040e-4a0e-89d6-6d9e33904fe6' },
  },
  {
    name: 'the confirmation of a subscription',
    body: {
      ...shared,
      Type: 'SubscriptionConfirmation',
      Token: '2336412f37',
      Message: 'You have chosen to subscribe to the topic.',
      SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
    },
    events: ['SubscriptionConfirmation'],
    another: { 'json:MessageId': '33d62f13-040e-4a0e-89d6-6d9e33904fe6' },
  },
  {
    name: 'the end of a subscription',
    body: {
      ...shared,
      Type: 'UnsubscribeConfirmation',
      Token: '2336412f37',
      Message: 'You have chosen to deactivate subscription.',
      SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
    },
    events: ['UnsubscribeConfirmation'],
    another: { 'json:MessageId': '43d62f13-040e-4a0e-89d6-6d9e33904fe6' },
  },
]
