import type { Kinds } from 'hookonce/testing/contracts'

export const workos: Kinds = [
  {
    name: 'an event',
    body: {
      id: 'event_04FKJ843CVE8F7BXQSPFH0M53V',
      event: 'dsync.user.updated',
      created_at: '2021-06-25T19:07:33.155Z',
      data: { id: 'directory_user_01E1X1B89NH8Z3SDFJR4H7RGX7', state: 'active' },
    },
    events: ['dsync.user.updated'],
    another: { 'json:id': 'event_04FKJ843CVE8F7BXQSPFH0M53W' },
  },
]
