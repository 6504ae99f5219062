import { defineProvider, hmacScheme, hours, seconds } from '../verification/define-provider.js'
import { hubspot } from './hubspot.js'
import { sampleFile } from './sample.js'

/** Version 1 of the signatures. Every delivery also has version 3 (`hubspot`), which is safer. */
export const hubspotV1 = defineProvider({
  key: 'hubspotV1',
  name: 'HubSpot (version 1 signatures)',
  docs: 'https://developers.hubspot.com/docs/guides/apps/authentication/validating-requests',
  confidence: 'verified',
  // A plain digest of the app's client secret and the body.
  verify: hmacScheme({
    signature: 'header:x-hubspot-signature',
    encoding: 'hex',
    construction: 'prefix',
  }),
  events: hubspot.definition.events,
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(5) },
  sampleId: 'number',
  sampleHeaders: { 'x-hubspot-signature-version': 'v1' },
  samples: sampleFile('hubspot'),
})
