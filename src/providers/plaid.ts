import { defineProvider, hours, join, jwtScheme, seconds } from '../verification/define-provider.js'

export const plaid = defineProvider({
  key: 'plaid',
  name: 'Plaid',
  docs: 'https://plaid.com/docs/api/webhooks/webhook-verification/',
  confidence: 'verified',
  // Keys are looked up by id with the user's own API credentials: getKey calls /webhook_verification_key/get.
  verify: jwtScheme({
    in: 'header:plaid-verification',
    algorithms: ['ES256'],
    issuedAt: {},
    bodyHash: { claim: 'request_body_sha256' },
    getKey: true,
  }),
  // There is no event id, and most bodies only say that something is new: equal ones are distinct events. The time of
  // the signature tells them apart. A retry has a new one, and is handled again.
  events: {
    id: 'signed',
    type: join('.', 'json:webhook_type', 'json:webhook_code'),
    reference: ['json:item_id', 'json:transfer_id'],
  },
  retryWindowMs: hours(24),
  answer: { timeLimitMs: seconds(10) },
  samples: {
    'TRANSACTIONS.SYNC_UPDATES_AVAILABLE': {
      webhook_type: 'TRANSACTIONS',
      webhook_code: 'SYNC_UPDATES_AVAILABLE',
      item_id: '{id}',
      initial_update_complete: true,
      historical_update_complete: false,
      environment: 'production',
    },
    'ITEM.ERROR': {
      webhook_type: 'ITEM',
      webhook_code: 'ERROR',
      item_id: '{id}',
      error: { error_code: 'ITEM_LOGIN_REQUIRED', error_type: 'ITEM_ERROR', status: 400 },
      environment: 'production',
    },
  },
})
