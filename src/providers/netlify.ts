import { defineProvider, jwtScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const netlify = defineProvider({
  key: 'netlify',
  name: 'Netlify (outgoing webhook notifications)',
  docs: 'https://docs.netlify.com/site-deploys/notifications/#payload-signature',
  confidence: 'verified',
  // The token has no time: only the dedupe stops a replay.
  verify: jwtScheme({
    in: 'header:x-webhook-signature',
    algorithms: ['HS256'],
    claims: { iss: 'netlify' },
    bodyHash: { claim: 'sha256' },
  }),
  events: {
    // `id` is that of the deploy or the submission, for each of its states.
    id: 'hash',
    type: ['header:x-netlify-event', 'json:state'],
    reference: 'json:id',
  },
  retryWindowMs: null,
  keepHeaders: ['x-netlify-event'],
  samples: sampleFile('netlify'),
})
