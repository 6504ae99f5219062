import type { Kinds } from 'hookonce/testing/contracts'

export const pusherBeams: Kinds = [
  {
    name: 'a notification that was opened',
    body: {
      payload: { publish_id: 'pubid-33f3f68e-b0c5-438f-b50f-fae93f6c48df', user_id: 'user-001' },
      metadata: { event_type: 'v1.UserNotificationOpen', event_id: '01234567-89ab-cdef-0123-456789abcdef' },
      custom_data: {},
    },
    events: ['v1.UserNotificationOpen'],
    another: { 'json:metadata.event_id': '01234567-89ab-cdef-0123-456789abcdee' },
  },
]
