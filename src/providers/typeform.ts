import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'

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
  // 404 and 410 switch the webhook off at once.
  retryWindowMs: hours(11),
  samples: {
    form_response: {
      event_id: '{id}',
      event_type: 'form_response',
      form_response: {
        form_id: 'lT4Z3j',
        token: 'a3a12ec67a1365927098a606107fac15',
        submitted_at: '{now:iso}',
        landed_at: '{now:iso}',
        definition: { id: 'lT4Z3j', title: 'Webhooks example' },
        answers: [
          { type: 'email', email: 'an_account@example.com', field: { id: 'SMEUb7VJz92Q', type: 'email' } },
        ],
      },
    },
    form_response_partial: {
      event_id: '{id}',
      event_type: 'form_response_partial',
      form_response: {
        form_id: 'lT4Z3j',
        token: 'b4b23fd78b2476038109b717218gbd26',
        landed_at: '{now:iso}',
        answers: [{ type: 'text', text: 'Jane', field: { id: 'JwWggjAKtOkA', type: 'short_text' } }],
      },
    },
  },
})
