import type { Kinds } from 'hookonce/testing/contracts'

export const monday: Kinds = [
  {
    name: 'a changed column',
    body: {
      event: {
        type: 'update_column_value',
        triggerTime: '2021-10-11T09:07:28.210Z',
        subscriptionId: 73759690,
        isRetry: false,
        boardId: 1771812698,
        pulseId: 1772099344,
        triggerUuid: 'b5ed2e17c530f43668de130142445cba',
      },
    },
    events: ['update_column_value'],
    redelivery: { 'json:event.isRetry': true, timestamp: 60_000 },
    another: { 'json:event.triggerUuid': 'c5ed2e17c530f43668de130142445cba' },
  },
  {
    name: 'an app that was installed',
    docs: 'https://developer.monday.com/apps/docs/app-lifecycle',
    body: { type: 'install', data: { app_id: 1, account_id: 2, timestamp: '2022-03-24T12:34:56.123+00:00' } },
    events: ['install'],
    redelivery: {},
    another: { 'json:data.timestamp': '2022-03-25T12:34:56.123+00:00' },
  },
  {
    name: 'the challenge of a new webhook',
    body: { challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdAL' },
    handshake: true,
  },
]
