import { basicScheme, composite, defineProvider, hours, optional } from '../verification/define-provider.js'

export const postmark = defineProvider({
  key: 'postmark',
  name: 'Postmark',
  docs: 'https://postmarkapp.com/developer/webhooks/webhooks-overview',
  confidence: 'verified',
  // Nothing is signed: user and password are put into the webhook's URL.
  verify: basicScheme(),
  events: {
    // MessageID is the email's. A bounce or complaint also has its own ID; the others have their time, to 100 ns.
    id: [
      composite(
        optional('json:RecordType'),
        'json:MessageID',
        optional('json:ID'),
        optional(['json:Recipient', 'json:Email']),
        optional(['json:DeliveredAt', 'json:BouncedAt', 'json:ReceivedAt', 'json:ChangedAt']),
        optional('json:OriginalLink'),
      ),
      // An error of the SMTP API belongs to no message.
      'hash',
    ],
    // unchecked: that inbound messages have no RecordType.
    type: ['json:RecordType', 'const:Inbound'],
    reference: 'json:MessageID',
  },
  // For bounces and inbound messages; other events are retried for about twenty minutes.
  retryWindowMs: hours(10.5),
  samples: {
    Delivery: {
      RecordType: '{type}',
      MessageID: '{id}',
      Recipient: 'john@example.com',
      DeliveredAt: '{now:iso}',
      Details: 'Test delivery webhook details',
      ServerID: 23,
      MessageStream: 'outbound',
      Metadata: {},
    },
    Bounce: {
      RecordType: '{type}',
      ID: 4323372036854775,
      Type: 'HardBounce',
      TypeCode: 1,
      MessageID: '{id}',
      Email: 'john@example.com',
      BouncedAt: '{now:iso}',
      Inactive: true,
      ServerID: 23,
      MessageStream: 'outbound',
    },
    Inbound: {
      From: 'jane@example.com',
      To: '451d9b70cf9364d23ff6f9d51d870251569e@inbound.postmarkapp.com',
      Subject: 'This is an inbound message',
      MessageID: '{id}',
      Date: 'Thu, 5 Apr 2026 16:59:01 +0200',
      TextBody: 'Hello',
      MessageStream: 'inbound',
    },
  },
})
