import {
  composite,
  days,
  defineProvider,
  type FieldText,
  hmacScheme,
  optional,
} from '../verification/define-provider.js'

/** One header for each key of the account, of which there may be a hundred. */
const signatures = Array.from(
  { length: 100 },
  (_, index): FieldText => `header:x-docusign-signature-${index + 1}`,
)

/** The JSON SIM messages. The older aggregate and XML ones name no event. */
export const docusign = defineProvider({
  key: 'docusign',
  name: 'DocuSign Connect (JSON SIM)',
  docs: 'https://developers.docusign.com/platform/webhooks/connect/',
  confidence: 'verified',
  aliases: { hmacKey: 'secret' },
  // The key looks like base64 and is used as it stands.
  verify: hmacScheme({ signature: { in: signatures }, encoding: 'base64' }),
  events: {
    // There is no event id. unchecked: that generatedDateTime is the same on retries; without it a second
    // envelope-resent or recipient event would be taken for the first.
    id: composite(
      'json:event',
      'json:generatedDateTime',
      ['json:data.envelopeId', 'json:data.templateId', 'json:uri'],
      optional('json:data.recipientId'),
    ),
    type: 'json:event',
    reference: ['json:data.envelopeId', 'json:data.templateId'],
    // retryCount counts up.
    content: 'none',
  },
  retryWindowMs: days(15),
  samples: {
    'envelope-completed': {
      event: '{type}',
      apiVersion: 'v2.1',
      uri: '/restapi/v2.1/accounts/04f94512-cd3d-4f31-a186-01fdc5c2f29c/envelopes/{id}',
      retryCount: 0,
      configurationId: 10534414,
      generatedDateTime: '{now:iso}',
      data: {
        accountId: '04f94512-cd3d-4f31-a186-01fdc5c2f29c',
        userId: '1acdb1b2-0cb0-4a5b-a1b4-2a4b5fd2b0a7',
        envelopeId: '{id}',
      },
    },
    'recipient-completed': {
      event: '{type}',
      apiVersion: 'v2.1',
      uri: '/restapi/v2.1/accounts/04f94512-cd3d-4f31-a186-01fdc5c2f29c/envelopes/{id}',
      retryCount: 0,
      configurationId: 10534414,
      generatedDateTime: '{now:iso}',
      data: {
        accountId: '04f94512-cd3d-4f31-a186-01fdc5c2f29c',
        userId: '1acdb1b2-0cb0-4a5b-a1b4-2a4b5fd2b0a7',
        envelopeId: '{id}',
        recipientId: '1',
      },
    },
  },
})
