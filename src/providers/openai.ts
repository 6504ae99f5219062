import { days, defineProvider } from '../verification/define-provider.js'
import { standardHmac } from './shared/standard.js'

export const openai = defineProvider({
  key: 'openai',
  name: 'OpenAI',
  docs: 'https://platform.openai.com/docs/guides/webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // Its library uses a secret without `whsec_` as it is.
  verify: standardHmac('webhook', {
    secret: { encoding: 'base64', prefix: 'whsec_', withoutPrefix: 'utf8' },
  }),
  // The body has an id too; its documentation names this one for dedupe.
  events: { id: 'header:webhook-id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: days(3),
  sampleId: 'wh_',
  samples: {
    'response.completed': {
      id: 'evt_685c059ae3a481909bdc86819b066fb6',
      object: 'event',
      created_at: '{now:s}',
      type: 'response.completed',
      data: { id: 'resp_6850a1b2c3d4e5f6' },
    },
    'batch.completed': {
      id: 'evt_685c05a0b7c88190a1f2e3d4c5b6a798',
      object: 'event',
      created_at: '{now:s}',
      type: 'batch.completed',
      data: { id: 'batch_6850f00dcafe' },
    },
  },
})
