import type { Kinds } from 'hookonce/testing/contracts'

export const figma: Kinds = [
  {
    name: 'a changed file',
    body: {
      event_type: 'FILE_UPDATE',
      file_key: 'zH5Di7vQGqbkqgjXyq8Tcm',
      passcode: '',
      timestamp: '2020-02-23T20:27:16Z',
      webhook_id: '22',
    },
    events: ['FILE_UPDATE'],
    another: { 'json:timestamp': '2020-02-23T20:57:16Z' },
  },
  {
    name: 'two comments of one second',
    body: {
      event_type: 'FILE_COMMENT',
      comment_id: '32',
      file_key: 'zH5Di7vQGqbkqgjXyq8Tcm',
      passcode: '',
      timestamp: '2020-02-23T20:27:16Z',
      webhook_id: '22',
    },
    events: ['FILE_COMMENT'],
    another: { 'json:comment_id': '33' },
  },
  {
    name: 'a published library, in several events',
    body: {
      event_type: 'LIBRARY_PUBLISH',
      created_components: [{ key: '1e0b27f2bb1b4e7c', name: 'Button' }],
      file_key: 'zH5Di7vQGqbkqgjXyq8Tcm',
      passcode: '',
      timestamp: '2020-02-23T20:27:16Z',
      webhook_id: '22',
    },
    events: ['LIBRARY_PUBLISH'],
    another: {
      'json:created_components': undefined,
      'json:created_styles': [{ key: '2e0b27f2bb1b4e7c', name: 'Red' }],
    },
  },
  {
    name: 'the ping of a new webhook',
    body: { event_type: 'PING', passcode: '', timestamp: '2020-02-23T20:27:16Z', webhook_id: '22' },
    events: ['PING'],
    another: { 'json:timestamp': '2020-02-23T20:27:17Z' },
  },
]
