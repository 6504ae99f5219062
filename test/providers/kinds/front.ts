import type { Kinds } from 'hookonce/testing/contracts'

export const front: Kinds = [
  {
    name: 'an event of a conversation',
    body: {
      type: 'conversation_archived',
      authorization: { id: 'cmp_41w25' },
      payload: { id: 'evt_1', type: 'archive', emitted_at: 1.5, conversation: { id: 'cnv_yo1kg5q' } },
    },
    events: ['conversation_archived'],
    another: { 'json:payload.id': 'evt_2' },
  },
  {
    name: 'the validation of the endpoint',
    headers: { 'x-front-challenge': 'b5a9c1d2' },
    body: { type: 'sync', authorization: { id: 'cmp_41w25' }, payload: {} },
    handshake: true,
  },
]
