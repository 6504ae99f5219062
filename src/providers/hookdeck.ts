import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** What Hookdeck forwards: the body is the original sender's, in any form. */
export const hookdeck = defineProvider({
  key: 'hookdeck',
  name: 'Hookdeck Event Gateway',
  docs: 'https://hookdeck.com/docs/authentication',
  confidence: 'verified',
  verify: hmacScheme({
    // The second is there while the secret is being replaced.
    signature: { in: ['header:{option:headerPrefix}-signature', 'header:{option:headerPrefix}-signature-2'] },
    encoding: 'base64',
  }),
  options: {
    headerPrefix: {
      what: 'What its headers begin with, if the project sets another',
      default: 'x-hookdeck',
      example: 'x-hookdeck',
    },
  },
  events: {
    // The same on every attempt, manual ones too.
    id: 'header:{option:headerPrefix}-eventid',
    // The body need not be JSON, so it is not asked for a type: the source it came through has to do.
    type: join('', 'header:{option:headerPrefix}-source-name'),
    reference: 'header:{option:headerPrefix}-requestid',
  },
  // As the connection's retry rule says.
  retryWindowMs: null,
  keepHeaders: [
    'x-hookdeck-eventid',
    'x-hookdeck-requestid',
    'x-hookdeck-source-name',
    'x-hookdeck-verified',
    'x-hookdeck-attempt-count',
    'x-hookdeck-attempt-trigger',
  ],
  sampleId: 'evt_',
  sampleHeaders: {
    '{option:headerPrefix}-source-name': '{type}',
    '{option:headerPrefix}-requestid': 'req_wqVzV9zSYdZ0Xk0x6Kj1',
    '{option:headerPrefix}-attempt-count': '1',
    '{option:headerPrefix}-attempt-trigger': 'INITIAL',
  },
  samples: sampleFile('hookdeck'),
})
