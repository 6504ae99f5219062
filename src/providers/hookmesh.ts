import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const hookmesh = defineProvider({
  key: 'hookmesh',
  name: 'Hookmesh',
  docs: 'https://hookmesh.com/docs',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-hookmesh-signature', encoding: 'hex' }),
  // The producer defines `payload`; that it has an `id` is only a convention.
  events: { id: 'json:event_id', type: 'json:event_type', reference: 'json:payload.id' },
  retryWindowMs: hours(48),
  sampleId: 'evt_',
  samples: sampleFile('hookmesh'),
})
