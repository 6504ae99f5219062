import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'
import { hookdeckList } from './lists/hookdeck.js'
import { sampleFile } from './sample.js'

/** Deliveries that Hookdeck forwards: the body is that of the original sender, in any format. */
export const hookdeck = defineProvider({
  key: 'hookdeck',
  name: 'Hookdeck Event Gateway',
  docs: 'https://hookdeck.com/docs/authentication',
  confidence: 'verified',
  verify: hmacScheme({
    // The second exists during the rotation of the secret.
    signature: { in: ['header:{option:headerPrefix}-signature', 'header:{option:headerPrefix}-signature-2'] },
    encoding: 'base64',
  }),
  options: {
    headerPrefix: {
      what: 'The prefix of the headers, if the project has another',
      default: 'x-hookdeck',
      example: 'x-hookdeck',
    },
  },
  events: {
    // Every attempt has the same one, even a manual one.
    id: 'header:{option:headerPrefix}-eventid',
    // The body need not be JSON, so the type is the name of the Hookdeck source.
    type: join('', 'header:{option:headerPrefix}-source-name'),
    reference: 'header:{option:headerPrefix}-requestid',
  },
  // The retry rule of the connection decides.
  retryWindowMs: null,
  list: hookdeckList,
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
