import type { Kinds } from 'hookonce/testing/contracts'

export const okta: Kinds = [
  {
    name: 'a batch of events',
    docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
    body: {
      type: 'com.okta.event_hook',
      id: 'b5a188b9-5ece-4636-b041-482ffda96311',
      data: {
        events: [
          {
            uuid: 'f790999f-fe87-467a-9880-6982a583986c',
            eventType: 'user.session.start',
            actor: { id: '00uq' },
          },
          {
            uuid: 'a790999f-fe87-467a-9880-6982a583986c',
            eventType: 'user.session.end',
            actor: { id: '00uq' },
          },
        ],
      },
    },
    events: ['user.session.start', 'user.session.end'],
    redelivery: { 'json:eventId': 'c5a188b9-5ece-4636-b041-482ffda96311' },
    another: { 'json:data.events.1.uuid': 'b790999f-fe87-467a-9880-6982a583986c' },
  },
  {
    name: 'the one-time verification',
    method: 'GET',
    headers: { 'x-okta-verification-challenge': 'my verification challenge' },
    handshake: true,
  },
]
