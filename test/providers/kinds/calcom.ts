import type { Kinds } from 'hookonce/testing/contracts'

export const calcom: Kinds = [
  {
    name: 'an event of a booking',
    docs: 'https://cal.com/docs/core-features/webhooks',
    body: {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '2023-05-24T09:30:00.538Z',
      payload: { uid: 'bFJeNb2uX8ANpT3JL5EfXw', title: 'Meeting' },
    },
    events: ['BOOKING_CREATED'],
    another: [
      { 'json:createdAt': '2023-05-24T09:30:00.539Z' },
      { 'json:payload.uid': 'cFJeNb2uX8ANpT3JL5EfXw' },
    ],
  },
  {
    name: 'the start or end of a meeting, which is flat',
    body: { triggerEvent: 'MEETING_ENDED', uid: 'bFJeNb2uX8ANpT3JL5EfXw', startTime: '2023-05-25T09:30:00Z' },
    events: ['MEETING_ENDED'],
    another: { 'json:uid': 'cFJeNb2uX8ANpT3JL5EfXw' },
  },
]
