import type { Kinds } from 'hookonce/testing/contracts'

export const onfido: Kinds = [
  {
    name: 'a completed check',
    body: {
      payload: {
        resource_type: 'check',
        action: 'check.completed',
        object: {
          id: 'd2a5b1c0-0000-4000-8000-000000000001',
          status: 'complete',
          completed_at_iso8601: '2023-10-30T15:00:39Z',
        },
      },
    },
    events: ['check.completed'],
    another: [
      { 'json:payload.object.id': 'd2a5b1c0-0000-4000-8000-000000000002' },
      { 'json:payload.action': 'check.started' },
      { 'json:payload.object.completed_at_iso8601': '2023-10-30T15:00:40Z' },
    ],
  },
]
