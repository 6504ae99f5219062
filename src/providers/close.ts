import { defineProvider, hmacScheme, join, seconds } from '../verification/define-provider.js'

export const close = defineProvider({
  key: 'close',
  name: 'Close',
  docs: 'https://developer.close.com/topics/webhooks/',
  confidence: 'verified',
  verify: hmacScheme({
    signature: 'header:close-sig-hash',
    encoding: 'hex',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:close-sig-timestamp', unit: 's' },
    // The signature key is hex of the key's bytes.
    secret: { encoding: 'hex' },
  }),
  events: {
    id: 'json:event.id',
    type: join('.', 'json:event.object_type', 'json:event.action'),
    reference: 'json:event.object_id',
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'ev_',
  samples: {
    'opportunity.updated': {
      subscription_id: 'whsub_8wmjioB54xdEeAUXI4e2dGLm',
      event: {
        id: '{id}',
        object_type: 'opportunity',
        object_id: 'oppo_7H4sjNso7FyBFaeR3RXi5PMJbilfo0c6UPCxsJtEhCO',
        lead_id: 'lead_zwqYhEFwzPyfCErS8uQ77is2wFLvr9BgVi6cTfbFM68',
        organization_id: 'orga_XbVPx5fFbKlYTz9PW5Ih1XDhViV10YihIaEgMEb6fVW',
        action: 'updated',
        date_created: '{now:iso}',
        changed_fields: ['status_type'],
        previous_data: { status_type: 'active' },
        data: { status_type: 'won', value: 100000, value_currency: 'USD' },
      },
    },
    'lead.created': {
      subscription_id: 'whsub_8wmjioB54xdEeAUXI4e2dGLm',
      event: {
        id: '{id}',
        object_type: 'lead',
        object_id: 'lead_zwqYhEFwzPyfCErS8uQ77is2wFLvr9BgVi6cTfbFM68',
        action: 'created',
        date_created: '{now:iso}',
        data: { display_name: 'Acme', status_label: 'Potential' },
      },
    },
  },
})
