import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const shortcut = defineProvider({
  key: 'shortcut',
  name: 'Shortcut',
  docs: 'https://help.shortcut.com/hc/en-us/articles/34734717380756',
  confidence: 'likely',
  // unchecked: its documentation says "HMAC hexdigest" without the hash; other receivers use SHA-256.
  verify: hmacScheme({ signature: 'header:payload-signature', encoding: 'hex' }),
  // unchecked: the paths. The first action is the cause of the others.
  events: {
    id: 'json:id',
    type: join('.', 'json:actions.0.entity_type', 'json:actions.0.action'),
    reference: ['json:primary_id', 'json:actions.0.id'],
  },
  retryWindowMs: null,
  samples: sampleFile('shortcut'),
})
