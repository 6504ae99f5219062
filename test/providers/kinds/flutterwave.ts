import type { Kinds } from 'hookonce/testing/contracts'

export const flutterwave: Kinds = [
  {
    name: 'a charge in version 4',
    body: { type: 'charge.completed', data: { id: 'chg_1', status: 'succeeded', reference: 'order_1001' } },
    events: ['charge.completed'],
    another: [{ 'json:data.status': 'failed' }, { 'json:data.id': 'chg_2' }],
  },
  {
    name: 'a transfer in version 3',
    body: {
      event: 'transfer.completed',
      'event.type': 'Transfer',
      data: { id: 33286, status: 'SUCCESSFUL' },
    },
    events: ['transfer.completed'],
    another: { 'json:data.id': 33287 },
  },
  {
    name: 'a debit of a virtual card',
    body: { Type: 'Debit', Amount: 10, TransactionId: 6, Reference: 'CF-BARTER-1', Status: 'Successful' },
    events: ['Debit'],
    another: { 'json:Reference': 'CF-BARTER-2' },
  },
]
