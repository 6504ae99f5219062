import { defineProvider, hmacScheme, join, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const launchdarkly = defineProvider({
  key: 'launchdarkly',
  name: 'LaunchDarkly',
  docs: 'https://launchdarkly.com/docs/home/infrastructure/webhooks',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-ld-signature', encoding: 'hex' }),
  // An entry of the audit log. titleVerb is text for people; kind and the first action can be matched by code.
  events: {
    id: 'json:_id',
    type: join('.', 'json:kind', optional('json:accesses[].action')),
    reference: 'json:target.resources[]',
  },
  retryWindowMs: null,
  samples: sampleFile('launchdarkly'),
})
