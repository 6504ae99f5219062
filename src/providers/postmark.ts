import { basicScheme, composite, defineProvider, hours, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

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
  samples: sampleFile('postmark'),
})
