import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** WordPress.com webhooks. WooCommerce signs its own and is another provider. */
export const wordpress = defineProvider({
  key: 'wordpress',
  name: 'WordPress.com',
  docs: 'https://wordpress.com/support/webhooks/',
  confidence: 'likely',
  // It signs nothing: put `?token=...` into the address it calls.
  verify: tokenScheme({ in: 'query:token' }),
  format: 'form',
  // The site's owner chooses the fields. Have `post_modified` among them: two changes with equal bodies are one event.
  events: { id: 'hash', type: 'form:hook', reference: ['form:ID', 'form:comment_ID'] },
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('wordpress'),
})
