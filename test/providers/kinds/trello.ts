import type { Kinds } from 'hookonce/testing/contracts'

export const trello: Kinds = [
  {
    name: 'an action on a card',
    body: {
      action: {
        id: '51f9424bcd6e040f3c002412',
        idMemberCreator: '4fc78a59a885233f4b349bd9',
        data: { card: { id: '51f9424bcd6e040f3c002400' }, board: { id: '4d5ea62fd76aa1136000000c' } },
        type: 'updateCard',
        date: '2013-07-31T16:58:51.949Z',
      },
      model: { id: '4d5ea62fd76aa1136000000c', name: 'Trello Development' },
      webhook: { id: '1', consecutiveFailures: 0 },
    },
    events: ['updateCard'],
    redelivery: { 'json:webhook.consecutiveFailures': 1 },
    another: { 'json:action.id': '51f9424bcd6e040f3c002413' },
  },
  { name: 'the request when a webhook is created', method: 'HEAD', handshake: true },
]
