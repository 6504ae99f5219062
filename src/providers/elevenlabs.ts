import { defineProvider, hmacScheme, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const elevenlabs = defineProvider({
  key: 'elevenlabs',
  name: 'ElevenLabs',
  docs: 'https://elevenlabs.io/docs/eleven-agents/workflows/post-call-webhooks',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // As in its library (@elevenlabs/elevenlabs-js 2.73.0), which accepts thirty minutes.
  verify: hmacScheme({
    signature: { in: 'header:elevenlabs-signature', pairs: { signature: 'v0', timestamp: 't' } },
    encoding: 'hex',
    signed: '{timestamp}.{body}',
    timestamp: { in: 'signature', unit: 's', tolerance: minutes(30) },
  }),
  events: {
    // There is no event id; the body has the time of the event.
    id: 'hash',
    type: 'json:type',
    reference: ['json:data.conversation_id', 'json:data.request_id', 'json:data.voice_id'],
  },
  retryWindowMs: null,
  samples: sampleFile('elevenlabs'),
})
