import { defineProvider } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const obit = defineProvider({
  key: 'obit',
  name: 'Obit',
  docs: 'https://obit.dev/docs/webhooks',
  confidence: 'likely',
  // unchecked: its guide does not say how events are verified. Standard Webhooks is assumed; an option sets the headers.
  verify: standardHmac('{option:headerPrefix}'),
  options: {
    headerPrefix: { what: 'The prefix of the three headers', default: 'webhook', example: 'webhook' },
  },
  events: { id: 'json:id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: null,
  sampleId: 'evt_',
  // The signature also covers the id in the header, which need not be that of the event.
  sampleHeaders: { '{option:headerPrefix}-id': 'msg_{id}' },
  samples: sampleFile('obit'),
})
