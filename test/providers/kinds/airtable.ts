import type { Kinds } from 'hookonce/testing/contracts'

export const airtable: Kinds = [
  {
    name: 'a notification that a base has changed',
    docs: 'https://airtable.com/developers/web/api/webhooks-overview',
    body: {
      base: { id: 'app00000000000000' },
      webhook: { id: 'ach00000000000000' },
      timestamp: '2022-02-01T21:25:05.663Z',
    },
    events: ['ping'],
    another: [{ 'json:timestamp': '2022-02-01T21:25:05.664Z' }, { 'json:webhook.id': 'ach00000000000001' }],
  },
]
