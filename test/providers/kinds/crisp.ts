import type { Kinds } from 'hookonce/testing/contracts'

export const crisp: Kinds = [
  {
    name: 'an event',
    docs: 'https://docs.crisp.chat/references/web-hooks/v1/',
    body: {
      website_id: '42286ab3',
      event: 'message:send',
      data: { session_id: 'session_1', content: 'Hello', fingerprint: 163239623329114 },
      timestamp: 1506521246214,
    },
    events: ['message:send'],
    another: [{ 'json:timestamp': 1506521246215 }, { 'json:data.session_id': 'session_2' }],
  },
]
