import type { Kinds } from 'hookonce/testing/contracts'

export const clickup: Kinds = [
  {
    name: 'a changed task',
    docs: 'https://developer.clickup.com/docs/webhooktaskpayloads',
    body: {
      event: 'taskStatusUpdated',
      history_items: [{ id: '2800787326392370170', type: 1, date: '1642736073330' }],
      task_id: '1vj38vv',
      webhook_id: '7fa3ec74-69a8-4530-a251-8a13730bd204',
    },
    events: ['taskStatusUpdated'],
    another: [
      { 'json:history_items.0.id': '2800787326392370171' },
      // One change gives several events.
      { 'json:event': 'taskUpdated' },
    ],
  },
  {
    name: 'an event without history',
    docs: 'https://developer.clickup.com/docs/webhooklistpayloads',
    body: {
      event: 'folderUpdated',
      folder_id: '96771950',
      webhook_id: '7fa3ec74-69a8-4530-a251-8a13730bd204',
    },
    events: ['folderUpdated'],
    another: {},
    repeated:
      'An event of a list, folder or space has only the id of the object. Two changes have the same bytes, so every delivery is a new event.',
  },
]
