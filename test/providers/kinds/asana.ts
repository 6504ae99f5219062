import type { Kinds } from 'hookonce/testing/contracts'

const event = {
  user: { gid: '12345', resource_type: 'user' },
  resource: { gid: '1204', resource_type: 'task' },
  created_at: '2020-08-21T18:20:37.972Z',
}

export const asana: Kinds = [
  {
    name: 'a batch of events',
    docs: 'https://developers.asana.com/docs/webhooks-guide',
    body: {
      events: [
        { ...event, action: 'changed', change: { field: 'name', action: 'changed' } },
        { ...event, action: 'changed', change: { field: 'due_on', action: 'changed' } },
        { ...event, action: 'deleted' },
      ],
    },
    events: ['task.changed', 'task.changed', 'task.deleted'],
    another: [
      { 'json:events.0.created_at': '2020-08-21T18:20:37.973Z' },
      { 'json:events.2.resource.gid': '1337' },
    ],
  },
  { name: 'a heartbeat', body: { events: [] }, handshake: true },
  {
    name: 'the handshake of a new webhook',
    options: { acceptHandshake: 'yes' },
    headers: { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81' },
    body: {},
    handshake: 'unsigned',
  },
]
