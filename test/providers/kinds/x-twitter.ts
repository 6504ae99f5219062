import type { Kinds } from 'hookonce/testing/contracts'

export const xTwitter: Kinds = [
  {
    name: 'a post',
    docs: 'https://docs.x.com/x-api/enterprise-gnip-2.0/fundamentals/account-activity',
    body: {
      for_user_id: '2244994945',
      tweet_create_events: [{ id_str: '1050118621198921728', text: 'Hello', timestamp_ms: '1539244800000' }],
    },
    events: ['tweet_create_events'],
    another: { 'json:tweet_create_events.0.id_str': '1050118621198921729' },
  },
  {
    name: 'a user who follows again',
    body: {
      for_user_id: '2244994945',
      follow_events: [
        {
          type: 'follow',
          created_timestamp: '1517588749178',
          target: { id: '12' },
          source: { id: '3001969357' },
        },
      ],
    },
    events: ['follow_events'],
    another: { 'json:follow_events.0.created_timestamp': '1517588749999' },
  },
  {
    name: 'a user who types',
    body: {
      for_user_id: '4337869213',
      direct_message_indicate_typing_events: [
        {
          created_timestamp: '1518127183443',
          sender_id: '3284025577',
          target: { recipient_id: '3001969357' },
        },
      ],
      users: { '3284025577': { id: '3284025577' } },
    },
    events: ['direct_message_indicate_typing_events'],
    another: { 'json:direct_message_indicate_typing_events.0.created_timestamp': '1518127183999' },
  },
  {
    name: 'a direct message',
    body: {
      for_user_id: '4337869213',
      direct_message_events: [
        {
          type: 'message_create',
          id: '954491830116155396',
          created_timestamp: '1516403560557',
          message_create: { sender_id: '4337869213', message_data: { text: 'Hello' } },
        },
      ],
      apps: { '13090192': { id: '13090192' } },
      users: { '4337869213': { id: '4337869213' } },
    },
    events: ['direct_message_events'],
    another: { 'json:direct_message_events.0.id': '954491830116155397' },
  },
  {
    name: 'an app whose access was revoked',
    body: {
      user_event: {
        revoke: {
          date_time: '2018-05-24T09:48:12+00:00',
          target: { app_id: '13090192' },
          source: { user_id: '63046977' },
        },
      },
    },
    events: ['user_event'],
    another: { 'json:user_event.revoke.date_time': '2018-05-25T09:48:12+00:00' },
  },
  {
    name: 'the hourly challenge',
    method: 'GET',
    query: { crc_token: 'challenge_string' },
    handshake: true,
  },
]
