import type { Kinds } from 'hookonce/testing/contracts'

export const orb: Kinds = [
  {
    name: 'an issued invoice',
    body: {
      id: 'o4mmewpfNNTnjfZc',
      created_at: '2022-09-09T19:45:00Z',
      type: 'invoice.issued',
      properties: { automatically_marked_as_paid: false },
      invoice: { id: 'JDKLJFI8KXDLMFKQ', status: 'issued' },
    },
    events: ['invoice.issued'],
    another: { 'json:id': 'o4mmewpfNNTnjfZd' },
  },
]
