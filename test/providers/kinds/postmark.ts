import type { Kinds } from 'hookonce/testing/contracts'

const MessageID = '883953f4-6105-42a2-a16a-77a8eac79483'

export const postmark: Kinds = [
  {
    name: 'a delivery',
    body: {
      RecordType: 'Delivery',
      MessageID,
      Recipient: 'john@example.com',
      DeliveredAt: '2019-11-05T16:33:54.9070259Z',
    },
    events: ['Delivery'],
    // One e-mail to two recipients.
    another: { 'json:Recipient': 'jane@example.com' },
  },
  {
    name: 'a bounce',
    body: {
      RecordType: 'Bounce',
      ID: 4323372036854775,
      Type: 'HardBounce',
      MessageID,
      Email: 'john@example.com',
      BouncedAt: '2019-11-05T16:33:54.9070259Z',
    },
    events: ['Bounce'],
    another: { 'json:ID': 4323372036854776 },
  },
  {
    name: 'a second open of an e-mail',
    body: {
      RecordType: 'Open',
      FirstOpen: false,
      MessageID,
      Recipient: 'john@example.com',
      ReceivedAt: '2019-11-05T16:33:54.9070259Z',
    },
    events: ['Open'],
    another: { 'json:ReceivedAt': '2019-11-05T16:34:54.9070259Z' },
  },
  {
    name: 'a click',
    body: {
      RecordType: 'Click',
      MessageID,
      Recipient: 'john@example.com',
      OriginalLink: 'https://example.com/a',
      ReceivedAt: '2019-11-05T16:33:54.9070259Z',
    },
    events: ['Click'],
    another: { 'json:OriginalLink': 'https://example.com/b' },
  },
  {
    name: 'a changed subscription',
    body: {
      RecordType: 'SubscriptionChange',
      MessageID,
      Recipient: 'john@example.com',
      ChangedAt: '2020-02-01T10:53:34.416071Z',
      SuppressSending: true,
    },
    events: ['SubscriptionChange'],
    another: { 'json:ChangedAt': '2020-02-02T10:53:34.416071Z' },
  },
  {
    name: 'a subscription changed by hand, which belongs to no message',
    body: {
      RecordType: 'SubscriptionChange',
      MessageID: '00000000-0000-0000-0000-000000000000',
      Recipient: 'john@example.com',
      ChangedAt: '2020-02-01T10:53:34.416071Z',
      SuppressSending: true,
    },
    events: ['SubscriptionChange'],
    another: [{ 'json:Recipient': 'jane@example.com' }, { 'json:ChangedAt': '2020-02-02T10:53:34.416071Z' }],
  },
  {
    name: 'an error of the SMTP API',
    docs: 'https://postmarkapp.com/developer/webhooks/smtp-api-error-webhook',
    body: {
      RecordType: 'SMTPApiError',
      ServerID: 23,
      Subject: 'Hello',
      Error: 'Inactive recipient',
      Timestamp: '2024-01-01',
    },
    events: ['SMTPApiError'],
    another: { 'json:Subject': 'Hello again' },
  },
  {
    name: 'an inbound message',
    body: { From: 'jane@example.com', MessageID: '22c74902-a0c1-4511-804f2-341342852c90', TextBody: 'Hello' },
    events: ['Inbound'],
    another: { 'json:MessageID': '22c74902-a0c1-4511-804f2-341342852c91' },
  },
]
