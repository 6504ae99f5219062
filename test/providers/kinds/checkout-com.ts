import type { Kinds } from 'hookonce/testing/contracts'

export const checkoutCom: Kinds = [
  {
    name: 'an event',
    docs: 'https://www.checkout.com/docs/developer-resources/webhooks/webhook-event-types',
    body: {
      id: 'evt_az5sblvku4ge3dwpztvyizgcau',
      type: 'payment_approved',
      created_on: '2023-10-20T12:00:00Z',
      data: { id: 'pay_mbabizu24mvu3mela5njyhpit4' },
    },
    events: ['payment_approved'],
    another: { 'json:id': 'evt_bz5sblvku4ge3dwpztvyizgcau' },
  },
]
