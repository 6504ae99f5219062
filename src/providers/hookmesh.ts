import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const hookmesh = defineProvider({
  key: 'hookmesh',
  name: 'Hookmesh',
  docs: 'https://hookmesh.com/docs',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-hookmesh-signature', encoding: 'hex' }),
  // The shape of `payload` is the producer's, so the reference is a convention at best.
  events: { id: 'json:event_id', type: 'json:event_type', reference: 'json:payload.id' },
  retryWindowMs: hours(48),
  sampleId: 'evt_',
  samples: sampleFile('hookmesh'),
})
