import { defineProvider } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac, standardKey } from './shared/standard.js'

/** Any sender that follows standardwebhooks.com: `secret` for v1 (HMAC), `publicKey` for v1a (Ed25519). */
export const standardWebhooks = defineProvider({
  key: 'standardWebhooks',
  name: 'Standard Webhooks',
  docs: 'https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md',
  confidence: 'verified',
  // unchecked: v1a is taken from the specification, not from the code of a sender.
  verify: { secret: standardHmac('webhook'), publicKey: standardKey('webhook') },
  sharedKey: false,
  events: { id: 'header:webhook-id', type: 'json:type', reference: 'json:data.id' },
  // Different for each sender; the specification recommends several days.
  retryWindowMs: null,
  sampleId: 'msg_',
  samples: sampleFile('standard-webhooks'),
})
