import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const onfido = defineProvider({
  key: 'onfido',
  name: 'Onfido (Entrust identity verification)',
  docs: 'https://documentation.onfido.com/api/latest/#webhooks',
  confidence: 'verified',
  aliases: { webhookToken: 'secret' },
  verify: hmacScheme({ signature: 'header:x-sha2-signature', encoding: 'hex' }),
  events: {
    // There is no event id. The body has the action, the object and the time of the change.
    id: 'hash',
    type: 'json:payload.action',
    reference: ['json:payload.object.workflow_run_id', 'json:payload.object.id'],
  },
  retryWindowMs: null,
  samples: sampleFile('onfido'),
})
