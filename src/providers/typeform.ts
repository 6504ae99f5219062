import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const typeform = defineProvider({
  key: 'typeform',
  name: 'Typeform',
  docs: 'https://www.typeform.com/developers/webhooks/secure-your-webhooks/',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:typeform-signature', prefix: 'sha256=' },
    encoding: 'base64',
  }),
  events: { id: 'json:event_id', type: 'json:event_type', reference: 'json:form_response.token' },
  // An answer of 404 or 410 disables the webhook.
  retryWindowMs: hours(11),
  disables: {
    when: 'disables a webhook at once when it is answered 404 or 410',
    again: 'Switch it on again in Typeform, Connect, Webhooks of the form.',
    docs: 'https://www.typeform.com/developers/webhooks/',
    confidence: 'verified',
  },
  samples: sampleFile('typeform'),
})
