import type { Kinds } from 'hookonce/testing/contracts'

const signature = {
  token: 'e0b5477167110d68991efc6b9f89f0a11066af27834600e123',
  timestamp: '',
  signature: '',
}

export const mailgun: Kinds = [
  {
    name: 'an event',
    docs: 'https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-payloads',
    body: {
      signature,
      'event-data': {
        id: 'CPgfbmQMTCKtHW6uIWtuVe',
        event: 'delivered',
        timestamp: 1521472262.908181,
        message: { headers: { 'message-id': '20130503182626.18666.16540@example.com' } },
      },
    },
    events: ['delivered'],
    redelivery: {
      'json:signature.token': 'f1c6588278221e79002fd7c0a090b1b22177ba38945711f234',
      timestamp: 60_000,
    },
    another: { 'json:event-data.id': 'CPgfbmQMTCKtHW6uIWtuVf' },
  },
  {
    name: 'an event of a subaccount',
    body: {
      signature: { ...signature, 'parent-signature': 'c5a2c5f6d2b1f2c3e4d5' },
      'event-data': { id: 'Ase7i2zsRYeDXztHGENqRA', event: 'opened', timestamp: 1521243339.873676 },
    },
    events: ['opened'],
    another: { 'json:event-data.id': 'Ase7i2zsRYeDXztHGENqRB' },
  },
]
