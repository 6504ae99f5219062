import type { Kinds } from 'hookonce/testing/contracts'

export const lithic: Kinds = [
  {
    name: 'a transaction',
    headers: { 'webhook-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj' },
    body: {
      event_type: 'card_transaction.updated',
      token: '12345624-aa69-4cbc-a946-30d90181b621',
      status: 'SETTLED',
    },
    events: ['card_transaction.updated'],
    another: { 'header:webhook-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axk' },
  },
]
