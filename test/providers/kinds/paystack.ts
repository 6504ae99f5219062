import type { Kinds } from 'hookonce/testing/contracts'

export const paystack: Kinds = [
  {
    name: 'a charge',
    body: {
      event: 'charge.success',
      data: { id: 302961, status: 'success', reference: 'qTPrJoy9Bx', paid_at: '2016-09-30T21:10:19.000Z' },
    },
    events: ['charge.success'],
    another: { 'json:data.id': 302962 },
  },
  {
    name: 'a dispute that reminds',
    body: {
      event: 'charge.dispute.remind',
      data: { id: 358950, status: 'pending', updated_at: '2020-11-04T17:00:00.000Z' },
    },
    events: ['charge.dispute.remind'],
    another: { 'json:data.updated_at': '2020-11-05T17:00:00.000Z' },
  },
  {
    name: 'a failed identification of a customer',
    body: {
      event: 'customeridentification.failed',
      data: {
        customer_id: 82796315,
        customer_code: 'CUS_XXXXXXXXXXXXXXX',
        reason: 'Account number or BVN is incorrect',
      },
    },
    events: ['customeridentification.failed'],
    another: { 'json:data.reason': 'Timed out' },
    merged:
      'Two failures of an identification for the same reason have the same bytes and count as one event.',
  },
]
