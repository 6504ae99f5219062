import type { Kinds } from 'hookonce/testing/contracts'

export const clerk: Kinds = [
  {
    name: 'an event',
    docs: 'https://clerk.com/docs/webhooks/overview',
    headers: { 'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    body: {
      object: 'event',
      type: 'user.updated',
      timestamp: 1654012591835,
      data: { id: 'user_29w83sxmDNGwOuEthce5gg56FcC' },
    },
    events: ['user.updated'],
    another: { 'header:svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
]
