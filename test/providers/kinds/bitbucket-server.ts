import type { Kinds } from 'hookonce/testing/contracts'

export const bitbucketServer: Kinds = [
  {
    name: 'an event',
    headers: { 'x-event-key': 'pr:opened', 'x-request-id': '5a5d99d6-1c75-4e53-91b9-ee80057d4ce3' },
    body: { eventKey: 'pr:opened', date: '2017-09-19T09:58:11+1000', pullRequest: { id: 1 } },
    events: ['pr:opened'],
    another: { 'header:x-request-id': '6a5d99d6-1c75-4e53-91b9-ee80057d4ce3' },
  },
  {
    name: 'the test of a connection',
    headers: { 'x-event-key': 'diagnostics:ping', 'x-request-id': '7a5d99d6' },
    body: { test: true },
    handshake: 'unsigned',
  },
]
