import type { Kinds } from 'hookonce/testing/contracts'

export const bitbucket: Kinds = [
  {
    name: 'an event',
    headers: {
      'x-event-key': 'repo:push',
      'x-hook-uuid': '2ea0ab15-e6bd-4b8f-a5a9-2b4b5b2b3b5e',
      'x-request-uuid': '5a5d99d6-1c75-4e53-91b9-ee80057d4ce3',
      'x-attempt-number': '1',
    },
    body: { repository: { uuid: '{673a6070}' }, push: { changes: [] } },
    events: ['repo:push'],
    redelivery: { 'header:x-attempt-number': '2' },
    another: { 'header:x-request-uuid': '6a5d99d6-1c75-4e53-91b9-ee80057d4ce3' },
  },
]
