import type { Kinds } from 'hookonce/testing/contracts'

export const tiktok: Kinds = [
  {
    name: 'a video that was published',
    body: {
      client_key: 'bwo2m45353a6k85',
      event: 'video.publish.completed',
      create_time: 1615338610,
      user_openid: 'act.example12345Example12345Example',
      content: '{"share_id":"video.6974245311675353080.VDCxrcMJ"}',
    },
    events: ['video.publish.completed'],
    another: [
      { 'json:content': '{"share_id":"video.6974245311675353081.VDCxrcMJ"}' },
      { 'json:create_time': 1615338611 },
    ],
  },
  {
    name: 'an authorisation that was removed',
    body: {
      client_key: 'bwo2m45353a6k85',
      event: 'authorization.removed',
      create_time: 1615338610,
      user_openid: 'act.example12345Example12345Example',
      content: '{"reason":1}',
    },
    events: ['authorization.removed'],
    another: { 'json:user_openid': 'act.example12345Example12345Exampl2' },
  },
]
