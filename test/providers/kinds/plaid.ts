import type { Kinds } from 'hookonce/testing/contracts'

const again =
  'Plaid sends no id, and two changes can have the same body. The signed time distinguishes them; a retry has a new one, so it is handled again.'

export const plaid: Kinds = [
  {
    name: 'new transactions of an item',
    docs: 'https://plaid.com/docs/api/products/transactions/#sync_updates_available',
    body: {
      webhook_type: 'TRANSACTIONS',
      webhook_code: 'SYNC_UPDATES_AVAILABLE',
      item_id: 'wz666MBjYWTp2PDzzggYhM6oWWmBb',
      initial_update_complete: true,
      historical_update_complete: true,
      environment: 'production',
    },
    events: ['TRANSACTIONS.SYNC_UPDATES_AVAILABLE'],
    another: { timestamp: 1_000 },
    repeated: again,
  },
  {
    name: 'new events of transfers',
    docs: 'https://plaid.com/docs/api/products/transfer/reading-transfers/#transfer_events_update',
    body: { webhook_type: 'TRANSFER', webhook_code: 'TRANSFER_EVENTS_UPDATE', environment: 'production' },
    events: ['TRANSFER.TRANSFER_EVENTS_UPDATE'],
    another: { timestamp: 1_000 },
    repeated: again,
  },
  {
    name: 'an error of an item',
    docs: 'https://plaid.com/docs/api/items/#error',
    body: {
      webhook_type: 'ITEM',
      webhook_code: 'ERROR',
      item_id: 'wz666MBjYWTp2PDzzggYhM6oWWmBb',
      error: { error_code: 'ITEM_LOGIN_REQUIRED', error_type: 'ITEM_ERROR', status: 400 },
      environment: 'production',
    },
    events: ['ITEM.ERROR'],
    another: [{ 'json:item_id': 'other' }, { timestamp: 1_000 }],
    repeated: again,
  },
  {
    name: 'a changed status of an identity verification',
    docs: 'https://plaid.com/docs/api/products/identity-verification/#status_updated',
    body: {
      webhook_type: 'IDENTITY_VERIFICATION',
      webhook_code: 'STATUS_UPDATED',
      identity_verification_id: 'idv_52xR9LKo77r1Np',
      environment: 'production',
    },
    events: ['IDENTITY_VERIFICATION.STATUS_UPDATED'],
    another: { timestamp: 1_000 },
    repeated: again,
  },
]
