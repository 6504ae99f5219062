import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const airtable = defineProvider({
  key: 'airtable',
  name: 'Airtable (webhook notification ping)',
  docs: 'https://airtable.com/developers/web/api/webhooks-overview',
  confidence: 'verified',
  // The secret is macSecretBase64 in the response that created the webhook.
  verify: hmacScheme({
    signature: { in: 'header:x-airtable-content-mac', prefix: 'hmac-sha256=' },
    encoding: 'hex',
    secret: { encoding: 'base64' },
  }),
  // A notification has no changes, only a time. The changes are fetched with the webhook's cursor.
  events: { id: 'hash', type: 'const:ping', reference: 'json:webhook.id' },
  retryWindowMs: null,
  answer: { timeLimitMs: null, contentType: 'text/plain', body: '' },
  samples: sampleFile('airtable'),
})
