import type { Kinds } from 'hookonce/testing/contracts'

export const slack: Kinds = [
  {
    name: 'an Events API callback',
    docs: 'https://docs.slack.dev/apis/events-api',
    body: {
      token: 'ZZZZZZWSxiZZZ2yIvs3peJ',
      team_id: 'T123ABC456',
      api_app_id: 'A123ABC456',
      event: {
        type: 'app_mention',
        user: 'U123ABC456',
        text: 'Hello',
        ts: '1515449522.000016',
        channel: 'C1',
      },
      type: 'event_callback',
      event_id: 'Ev123ABC456',
      event_time: 1515449522,
    },
    events: ['app_mention'],
    redelivery: {
      'header:x-slack-retry-num': '1',
      'header:x-slack-retry-reason': 'http_timeout',
      timestamp: 60_000,
    },
    another: { 'json:event_id': 'Ev123ABC457' },
  },
  {
    name: 'a notice that the rate limit of events was reached',
    docs: 'https://docs.slack.dev/apis/events-api',
    body: {
      token: 'ZZZZZZWSxiZZZ2yIvs3peJ',
      type: 'app_rate_limited',
      team_id: 'T123456',
      minute_rate_limited: 1518467820,
      api_app_id: 'A123456',
    },
    events: ['app_rate_limited'],
    another: { 'json:minute_rate_limited': 1518467880 },
  },
  {
    name: 'a pressed button',
    docs: 'https://docs.slack.dev/reference/interaction-payloads/block_actions-payload',
    format: 'form',
    body: {
      payload: {
        type: 'block_actions',
        team: { id: 'T9TK3CUKW' },
        user: { id: 'UA8RXUSPL' },
        trigger_id: '12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb3',
        channel: { id: 'CBR2V3XEX' },
        actions: [{ action_id: 'WaXA', block_id: '=qXel', action_ts: '1548426417.840180' }],
      },
    },
    events: ['block_actions.WaXA'],
    another: { 'json:payload.trigger_id': '12321423423.333649436676.d8c1bb837935619ccad0f624c448ffb4' },
  },
  {
    name: 'a closed view',
    docs: 'https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload',
    format: 'form',
    body: {
      payload: {
        type: 'view_closed',
        team: { id: 'T9TK3CUKW' },
        user: { id: 'UA8RXUSPL' },
        view: { id: 'VMHU10V25', type: 'modal', hash: '156663117.cd33ad1f' },
        is_cleared: false,
      },
    },
    events: ['view_closed'],
    redelivery: { timestamp: 0 },
    another: { 'json:payload.view.id': 'VMHU10V26' },
  },
  {
    name: 'the choices of a menu',
    docs: 'https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload',
    format: 'form',
    body: {
      payload: {
        type: 'block_suggestion',
        team: { id: 'T9TK3CUKW' },
        user: { id: 'UA8RXUSPL' },
        action_id: 'menu',
        block_id: 'b',
        value: 'ca',
      },
    },
    redelivery: { timestamp: 0 },
    another: [{ 'json:payload.value': 'cat' }, { timestamp: 2_000 }],
  },
  {
    name: 'a slash command',
    docs: 'https://docs.slack.dev/interactivity/implementing-slash-commands',
    format: 'form',
    body: {
      token: 'gIkuvaNzQIHg97ATvDxqgjtO',
      team_id: 'T0001',
      channel_id: 'C2147483705',
      user_id: 'U2147483697',
      command: '/weather',
      text: '94070',
      trigger_id: '13345224609.738474920.8088930838d88f008e0',
    },
    events: ['command:/weather'],
    another: { 'form:trigger_id': '13345224609.738474920.8088930838d88f008e1' },
  },
  {
    name: 'the URL verification',
    body: {
      token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl',
      challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdAL',
      type: 'url_verification',
    },
    handshake: true,
  },
]
