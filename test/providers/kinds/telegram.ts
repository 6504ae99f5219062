import type { Kinds } from 'hookonce/testing/contracts'

export const telegram: Kinds = [
  {
    name: 'a message',
    body: {
      update_id: 10000,
      message: { message_id: 1365, date: 1441645532, chat: { id: 1111111 }, text: '/start' },
    },
    events: ['message'],
    another: { 'json:update_id': 10001 },
  },
  {
    name: 'an edited message',
    body: {
      update_id: 10002,
      edited_message: { message_id: 1365, date: 1441645532, edit_date: 1441646600, chat: { id: 1111111 } },
    },
    events: ['edited_message'],
    another: { 'json:update_id': 10003 },
  },
  {
    name: 'a pressed button',
    body: { update_id: 10004, callback_query: { id: '4382bfdwdsb323b2d9', from: { id: 1 }, data: 'yes' } },
    events: ['callback_query'],
    another: { 'json:update_id': 10005 },
  },
  {
    name: 'an inline query',
    body: {
      update_id: 10006,
      inline_query: { id: '134567890097', from: { id: 1 }, query: 'cats', offset: '' },
    },
    events: ['inline_query'],
    another: { 'json:update_id': 10007 },
  },
]
