import { defineProvider, ed25519Scheme } from '../verification/define-provider.js'
import { telnyxList } from './lists/telnyx.js'
import { sampleFile } from './sample.js'

export const telnyx = defineProvider({
  key: 'telnyx',
  name: 'Telnyx',
  docs: 'https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks',
  confidence: 'verified',
  // The public key of the account, in base64 as in Mission Control. As in its library (telnyx 7.24.0).
  verify: ed25519Scheme({
    signature: 'header:telnyx-signature-ed25519',
    encoding: 'base64',
    signed: '{timestamp}|{body}',
    timestamp: { in: 'header:telnyx-timestamp', unit: 's' },
  }),
  sharedKey: false,
  events: {
    id: 'json:data.id',
    type: 'json:data.event_type',
    // A call may have several legs; a message and a fax have their own id.
    reference: [
      'json:data.payload.call_session_id',
      'json:data.payload.call_leg_id',
      'json:data.payload.conference_id',
      'json:data.payload.fax_id',
      'json:data.payload.id',
    ],
    // meta.attempt changes with each attempt.
    content: 'none',
  },
  retryWindowMs: null,
  list: telnyxList,
  samples: sampleFile('telnyx'),
})
