import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'x-goog-channel-id': '4ba78bf0-6a47-11e2-bcfd-0800200c9a66',
  'x-goog-message-number': '10',
  'x-goog-resource-id': 'ret08u3rv24htgh289g',
  'x-goog-resource-state': 'exists',
}

export const googleCalendar: Kinds = [
  {
    name: 'a change in a calendar',
    headers,
    events: ['exists'],
    another: [
      { 'header:x-goog-message-number': '11' },
      { 'header:x-goog-channel-id': '5ba78bf0-6a47-11e2-bcfd-0800200c9a66' },
    ],
  },
  {
    name: 'a change of a file in Drive',
    docs: 'https://developers.google.com/workspace/drive/api/guides/push',
    headers: { ...headers, 'x-goog-resource-state': 'update', 'x-goog-changed': 'content,properties' },
    body: { kind: 'drive#changes' },
    events: ['update'],
    another: { 'header:x-goog-message-number': '11' },
  },
  {
    name: 'the first message of a channel',
    headers: { ...headers, 'x-goog-message-number': '1', 'x-goog-resource-state': 'sync' },
    handshake: true,
  },
]
