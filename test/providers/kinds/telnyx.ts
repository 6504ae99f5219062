import type { Kinds } from 'hookonce/testing/contracts'

export const telnyx: Kinds = [
  {
    name: 'an answered call',
    body: {
      data: {
        event_type: 'call.answered',
        id: '0ccc7b54-4df3-4bca-a65a-3da1ecc777f0',
        occurred_at: '2018-02-02T22:25:27.521992Z',
        payload: { call_session_id: '428c31b6-abf3-3bc1-b7f4-5013ef9657c1' },
      },
      meta: { attempt: 1 },
    },
    events: ['call.answered'],
    redelivery: { 'json:meta.attempt': 2, timestamp: 60_000 },
    another: { 'json:data.id': '0ccc7b54-4df3-4bca-a65a-3da1ecc777f1' },
  },
]
