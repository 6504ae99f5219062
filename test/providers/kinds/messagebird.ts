import type { Kinds } from 'hookonce/testing/contracts'

export const messagebird: Kinds = [
  {
    name: 'the status of an SMS, with the method GET',
    docs: 'https://developers.messagebird.com/api/sms-messaging/#handle-a-status-report',
    method: 'GET',
    query: {
      id: 'efa6405d518d4c0c88cce11f7db775fb',
      recipient: '31612345678',
      status: 'sent',
      statusDatetime: '2017-09-01T10:00:05+00:00',
    },
    events: ['sent'],
    another: [
      { 'query:status': 'delivered' },
      { 'query:recipient': '31612345679' },
      { 'query:statusDatetime': '2017-09-01T10:00:06+00:00' },
    ],
  },
  {
    name: 'an event of a conversation',
    docs: 'https://developers.messagebird.com/api/conversations/#webhooks',
    body: {
      type: 'message.updated',
      conversation: { id: '2e15efafec384e1c82e9842075e87beb' },
      message: {
        id: '8909570be57d4b2e8255ec2a5c6d0c9d',
        status: 'sent',
        updatedDatetime: '2019-01-01T12:00:00Z',
      },
    },
    events: ['message.updated'],
    another: [
      { 'json:message.status': 'delivered' },
      { 'json:message.updatedDatetime': '2019-01-01T12:00:01Z' },
      { 'json:message.id': '9909570be57d4b2e8255ec2a5c6d0c9d' },
    ],
  },
  {
    name: 'a changed conversation',
    body: {
      type: 'conversation.updated',
      conversation: {
        id: '2e15efafec384e1c82e9842075e87beb',
        status: 'archived',
        updatedDatetime: '2019-01-01T12:00:00Z',
      },
    },
    events: ['conversation.updated'],
    another: [
      { 'json:conversation.updatedDatetime': '2019-01-01T12:00:01Z' },
      { 'json:conversation.status': 'active' },
    ],
  },
  {
    name: 'an SMS that came in, as a form',
    docs: 'https://developers.messagebird.com/api/sms-messaging/#receive-a-message',
    format: 'form',
    body: {
      id: 'e8077d803532c0b5937c639b60216938',
      originator: '31612345678',
      recipient: '31612345670',
      body: 'Hello',
      createdDatetime: '2019-01-01T12:00:00Z',
    },
    another: { 'form:id': 'f8077d803532c0b5937c639b60216938' },
  },
]
