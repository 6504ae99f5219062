import type { Kinds } from 'hookonce/testing/contracts'

export const aircall: Kinds = [
  {
    name: 'an event of a call',
    body: {
      resource: 'call',
      event: 'call.answered',
      timestamp: 1585601319,
      token: '',
      data: { id: 812, direction: 'inbound', status: 'answered' },
    },
    events: ['call.answered'],
    another: [{ 'json:timestamp': 1585601320 }, { 'json:data.id': 813 }, { 'json:event': 'call.hungup' }],
  },
  {
    name: 'an event of a contact or user',
    body: { resource: 'user', event: 'user.opened', timestamp: 1585601319, token: '', data: { id: 456 } },
    events: ['user.opened'],
    another: { 'json:timestamp': 1585601320 },
  },
]
