import type { Kinds } from 'hookonce/testing/contracts'

export const discord: Kinds = [
  {
    name: 'a webhook event',
    docs: 'https://docs.discord.com/developers/events/webhook-events',
    body: {
      version: 1,
      application_id: '1234560123453231555',
      type: 1,
      event: {
        type: 'APPLICATION_AUTHORIZED',
        timestamp: '2024-10-18T14:42:53.064834',
        data: { integration_type: 1, scopes: ['applications.commands'], user: { id: '1' } },
      },
    },
    events: ['APPLICATION_AUTHORIZED'],
    another: [
      { 'json:event.timestamp': '2024-10-18T14:42:53.064835' },
      { 'json:event.type': 'APPLICATION_DEAUTHORIZED' },
    ],
  },
  {
    name: 'a command',
    docs: 'https://docs.discord.com/developers/interactions/receiving-and-responding',
    body: {
      type: 2,
      id: '786008729715212338',
      token: 'A_UNIQUE_TOKEN',
      data: { id: '771825006014889984', name: 'c' },
    },
    events: ['APPLICATION_COMMAND.c'],
    another: { 'json:id': '786008729715212339' },
  },
  {
    name: 'a pressed button',
    body: { type: 3, id: '846462639134605312', token: 'unique', data: { custom_id: 'click_one' } },
    events: ['MESSAGE_COMPONENT'],
    another: { 'json:id': '846462639134605313' },
  },
  {
    name: 'the ping of webhook events',
    body: { version: 1, application_id: '1234560123453231555', type: 0 },
    handshake: true,
  },
  {
    name: 'the ping of interactions',
    body: { type: 1, id: '1', token: 't', application_id: '2' },
    handshake: true,
  },
]
