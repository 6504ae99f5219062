import type { Kinds } from 'hookonce/testing/contracts'

export const convoy: Kinds = [
  {
    name: 'an event',
    headers: { 'x-convoy-event-id': '01HEVP6RVPPKJNVKQ6GYVNKHCY' },
    body: { event_type: 'invoice.paid', data: { id: 'in_1' } },
    events: ['invoice.paid'],
    another: { 'header:x-convoy-event-id': '01HEVP6RVPPKJNVKQ6GYVNKHCZ' },
  },
]
