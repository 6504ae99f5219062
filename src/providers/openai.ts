import { days, defineProvider } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const openai = defineProvider({
  key: 'openai',
  name: 'OpenAI',
  docs: 'https://platform.openai.com/docs/guides/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Its library does not decode a secret without `whsec_`.
  verify: standardHmac('webhook', {
    secret: { encoding: 'base64', prefix: 'whsec_', withoutPrefix: 'utf8' },
  }),
  // The body also has an id; its documentation recommends this one for dedupe.
  events: { id: 'header:webhook-id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: days(3),
  sampleId: 'wh_',
  samples: sampleFile('openai'),
})
