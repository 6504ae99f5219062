import type { Kinds } from 'hookonce/testing/contracts'

export const zoom: Kinds = [
  {
    name: 'a meeting that started',
    body: {
      event: 'meeting.started',
      event_ts: 1626230691572,
      payload: {
        account_id: 'AAAAAABBBB',
        object: { id: '1234567890', uuid: '4444AAAiAAAAAiAiAiiAii==', host_id: 'x1yCzABCDEfg23HiJKl4mN' },
      },
    },
    events: ['meeting.started'],
    // The same occurrence of a meeting may start again.
    another: [{ 'json:event_ts': 1626230691573 }, { 'json:payload.object.uuid': '5555AAAiAAAAAiAiAiiAii==' }],
  },
  {
    name: 'two participants who join in one millisecond',
    body: {
      event: 'meeting.participant_joined',
      event_ts: 1626230691572,
      payload: {
        account_id: 'AAAAAABBBB',
        object: {
          id: '1234567890',
          uuid: '4444AAAiAAAAAiAiAiiAii==',
          participant: {
            user_id: '16778240',
            participant_uuid: '55555AAAiAAAAAiAiAiiAii',
            user_name: 'Jill',
          },
        },
      },
    },
    another: { 'json:payload.object.participant.participant_uuid': '66666AAAiAAAAAiAiAiiAii' },
  },
  {
    name: 'a phone call that rings',
    docs: 'https://developers.zoom.us/docs/api/phone/events/',
    body: {
      event: 'phone.callee_ringing',
      event_ts: 1626230691572,
      payload: {
        account_id: 'AAAAAABBBB',
        object: { call_id: '6998252473120001', ringing_start_time: '2021-07-14T02:44:51Z' },
      },
    },
    events: ['phone.callee_ringing'],
    another: { 'json:payload.object.call_id': '6998252473120002' },
  },
  {
    name: 'two chat messages in one millisecond',
    body: {
      event: 'meeting.chat_message_sent',
      event_ts: 1626230691572,
      payload: {
        account_id: 'AAAAAABBBB',
        object: {
          id: 1234567890,
          uuid: '4444AAAiAAAAAiAiAiiAii==',
          chat_message: {
            message_id: 'MS17RDk0QTY3QUQtQkFGQy04QTJFLTI2RUEtNkYxQjRBRTU1MTk5fQ==',
            message_content: 'ok',
          },
        },
      },
    },
    another: {
      'json:payload.object.chat_message.message_id':
        'MS17NDQ0OEU5MjMtM0JFOS1CMDA1LTQ0NDAtQjdGOTU0Rjk5MTkyfQ==',
    },
  },
  {
    name: 'an app that was deauthorised',
    body: {
      event: 'app_deauthorized',
      event_ts: 1626230691572,
      payload: {
        account_id: 'EabCDEFghiLHMA',
        user_id: 'z9jkdsfsdfjhdkfjQ',
        client_id: 'ADZ9k9bTWmGUoUbECUKU_a',
        deauthorization_time: '2019-06-17T13:52:28.632Z',
      },
    },
    another: [{ 'json:event_ts': 1626230691999 }, { 'json:payload.user_id': 'a8jkdsfsdfjhdkfjQ' }],
  },
  {
    name: 'the URL validation',
    body: {
      event: 'endpoint.url_validation',
      event_ts: 1654503849680,
      payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' },
    },
    handshake: true,
  },
]
