import { basicScheme, composite, defineProvider, hours, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const postmark = defineProvider({
  key: 'postmark',
  name: 'Postmark',
  docs: 'https://postmarkapp.com/developer/webhooks/webhooks-overview',
  confidence: 'verified',
  // Nothing is signed: the URL of the webhook has user and password.
  verify: basicScheme(),
  events: {
    // MessageID is that of the e-mail. A bounce or complaint also has its own ID; other events have a time, in 100 ns.
    id: [
      composite(
        optional('json:RecordType'),
        'json:MessageID',
        optional('json:ID'),
        optional(['json:Recipient', 'json:Email']),
        optional(['json:DeliveredAt', 'json:BouncedAt', 'json:ReceivedAt', 'json:ChangedAt']),
        optional('json:OriginalLink'),
      ),
      // An error of the SMTP API has no message.
      'hash',
    ],
    // unchecked: that inbound messages have no RecordType.
    type: ['json:RecordType', 'const:Inbound'],
    reference: 'json:MessageID',
  },
  // Bounces and inbound messages. Other events are retried for about twenty minutes.
  retryWindowMs: hours(10.5),
  samples: sampleFile('postmark'),
})
