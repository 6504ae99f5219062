import { defineProvider } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const obit = defineProvider({
  key: 'obit',
  name: 'Obit',
  docs: 'https://obit.dev/docs/webhooks',
  confidence: 'likely',
  // unchecked: its guide says that events are verified and not how. Standard Webhooks is offered, headers by option.
  verify: standardHmac('{option:headerPrefix}'),
  options: {
    headerPrefix: { what: 'What the three headers begin with', default: 'webhook', example: 'webhook' },
  },
  events: { id: 'json:id', type: 'json:type', reference: 'json:data.id' },
  retryWindowMs: null,
  sampleId: 'evt_',
  // The signature covers the header id as well; it need not be the event's.
  sampleHeaders: { '{option:headerPrefix}-id': 'msg_{id}' },
  samples: sampleFile('obit'),
})
