import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const crisp = defineProvider({
  key: 'crisp',
  name: 'Crisp',
  docs: 'https://docs.crisp.chat/references/web-hooks/v1/',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:x-crisp-signature',
    encoding: 'hex',
    // The brackets and the semicolon are signed too.
    signed: '[{timestamp};{body}]',
    // unchecked: milliseconds or seconds, sources differ; so it is not compared with the clock. A replay has the same
    // body and is the same event.
    timestamp: { in: 'header:x-crisp-request-timestamp', unit: 'ms', tolerance: null },
  }),
  events: {
    // There is no event id; the body has the time of the event in milliseconds.
    id: 'hash',
    type: 'json:event',
    reference: ['json:data.session_id', 'json:website_id'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-delivery-attempt-count', 'x-crisp-hook-origin'],
  samples: sampleFile('crisp'),
})
