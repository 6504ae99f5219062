import type { Kinds } from 'hookonce/testing/contracts'

export const viber: Kinds = [
  {
    name: 'a message',
    body: {
      event: 'message',
      timestamp: 1457764197627,
      message_token: '4912661846655238145',
      sender: { id: '01234567890A=', name: 'John McClane' },
      message: { type: 'text', text: 'a message to the service' },
    },
    events: ['message'],
    another: { 'json:message_token': '4912661846655238146' },
  },
  {
    name: 'a message that was delivered',
    body: {
      event: 'delivered',
      timestamp: 1457764197627,
      message_token: '491266184665523145',
      user_id: '01234567890A=',
    },
    events: ['delivered'],
    another: [{ 'json:event': 'seen' }, { 'json:user_id': '01234567890B=' }],
  },
  {
    name: 'a message that failed',
    body: {
      event: 'failed',
      timestamp: 1457764197627,
      message_token: '491266184665523145',
      user_id: '01234567890A=',
      desc: 'failure description',
    },
    events: ['failed'],
    another: { 'json:message_token': '491266184665523146' },
  },
  {
    name: 'a user who opens the conversation again',
    body: {
      event: 'conversation_started',
      timestamp: 1457764197627,
      message_token: '4912661846655238145',
      type: 'open',
      user: { id: '01234567890A=' },
      subscribed: false,
    },
    events: ['conversation_started'],
    another: { 'json:message_token': '4912661846655238199' },
  },
  {
    name: 'a user who unsubscribes',
    body: {
      event: 'unsubscribed',
      timestamp: 1457764197627,
      user_id: '01234567890A=',
      message_token: '4912661846655238145',
    },
    events: ['unsubscribed'],
    another: { 'json:message_token': '4912661846655238146' },
  },
  {
    name: 'the check of a new webhook',
    body: { event: 'webhook', timestamp: 1457764197627, message_token: '241256543215' },
    handshake: true,
  },
]
