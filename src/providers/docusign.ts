import {
  composite,
  days,
  defineProvider,
  type FieldText,
  hmacScheme,
  optional,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** One header for each key of the account; an account can have a hundred keys. */
const signatures = Array.from(
  { length: 100 },
  (_, index): FieldText => `header:x-docusign-signature-${index + 1}`,
)

/** The JSON SIM messages. The older aggregate and XML messages have no event name. */
export const docusign = defineProvider({
  key: 'docusign',
  name: 'DocuSign Connect (JSON SIM)',
  docs: 'https://developers.docusign.com/platform/webhooks/connect/',
  confidence: 'verified',
  aliases: { hmacKey: 'secret' },
  // The key looks like base64 but is not decoded.
  verify: hmacScheme({ signature: { in: signatures }, encoding: 'base64' }),
  events: {
    // There is no event id. unchecked: that generatedDateTime is the same on retries. Without it, a second
    // envelope-resent or recipient event would count as a redelivery of the first.
    id: composite(
      'json:event',
      'json:generatedDateTime',
      ['json:data.envelopeId', 'json:data.templateId', 'json:uri'],
      optional('json:data.recipientId'),
    ),
    type: 'json:event',
    reference: ['json:data.envelopeId', 'json:data.templateId'],
    // retryCount changes with each attempt.
    content: 'none',
  },
  retryWindowMs: days(15),
  samples: sampleFile('docusign'),
})
