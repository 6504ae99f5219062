import { defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** WordPress.com webhooks. WooCommerce has its own provider. */
export const wordpress = defineProvider({
  key: 'wordpress',
  name: 'WordPress.com',
  docs: 'https://wordpress.com/support/webhooks/',
  confidence: 'likely',
  // Nothing is signed: use a URL with `?token=...`.
  verify: tokenScheme({ in: 'query:token' }),
  format: 'form',
  // The owner of the site selects the fields. Select `post_modified`: two changes with equal bodies are one event.
  events: { id: 'hash', type: 'form:hook', reference: ['form:ID', 'form:comment_ID'] },
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('wordpress'),
})
