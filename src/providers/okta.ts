import { basicScheme, defineProvider, hours, seconds, tokenScheme } from '../verification/define-provider.js'

export const okta = defineProvider({
  key: 'okta',
  name: 'Okta event hooks',
  docs: 'https://developer.okta.com/docs/concepts/event-hooks/',
  confidence: 'verified',
  // The text given as authentication secret comes back verbatim in the header named beside it; nothing is signed.
  // `basicAuth` is for hooks whose secret was written as `Basic <base64>`.
  verify: { secret: tokenScheme({ in: 'header:{option:header}' }), basicAuth: basicScheme() },
  options: {
    header: {
      what: 'The authentication field of the event hook: the header that carries the secret',
      default: 'authorization',
      example: 'authorization',
    },
  },
  // eventId is the batch's. Okta's documentation compares the uuid of each event.
  events: {
    each: 'data.events[]',
    id: 'json:uuid',
    type: 'json:eventType',
    reference: ['json:target[].id', 'json:actor.id'],
  },
  handshakes: [
    {
      when: { method: 'GET', 'header:x-okta-verification-challenge': true },
      signed: true,
      reply: { json: { verification: '{header:x-okta-verification-challenge}' } },
    },
  ],
  // unchecked: it retries once, and does not say when.
  retryWindowMs: hours(1),
  answer: { timeLimitMs: seconds(3), httpStatus: 204, body: '' },
  samples: {
    'user.session.start': {
      eventType: 'com.okta.event_hook',
      eventTypeVersion: '1.0',
      cloudEventsVersion: '0.1',
      contentType: 'application/json',
      eventId: 'b5a188b9-5ece-4636-b041-482ffda96311',
      eventTime: '{now:iso}',
      source: 'https://example.okta.com/api/v1/eventHooks/whoql0HfiLGPWc8Jx0g3',
      data: {
        events: [
          {
            uuid: '{id}',
            published: '{now:iso}',
            eventType: 'user.session.start',
            version: '0',
            severity: 'INFO',
            displayMessage: 'User login to Okta',
            actor: { id: '00u1qw6mqitPHM8AJ0g7', type: 'User', alternateId: 'admin@example.com' },
            outcome: { result: 'SUCCESS' },
          },
        ],
      },
    },
    'user.lifecycle.deactivate': {
      eventType: 'com.okta.event_hook',
      eventTypeVersion: '1.0',
      cloudEventsVersion: '0.1',
      contentType: 'application/json',
      eventId: '3a8c0d2e-6f4b-4f0a-9c35-7d1e5b2a9f60',
      eventTime: '{now:iso}',
      source: 'https://example.okta.com/api/v1/eventHooks/whoql0HfiLGPWc8Jx0g3',
      data: {
        events: [
          {
            uuid: '{id}',
            published: '{now:iso}',
            eventType: 'user.lifecycle.deactivate',
            severity: 'INFO',
            actor: { id: '00u1qw6mqitPHM8AJ0g7', type: 'User', alternateId: 'admin@example.com' },
            outcome: { result: 'SUCCESS' },
            target: [{ id: '00u2rx7nrjuQIN9BK1h8', type: 'User', alternateId: 'jane@example.com' }],
          },
          {
            uuid: '{id}-2',
            published: '{now:iso}',
            eventType: 'application.user_membership.remove',
            severity: 'INFO',
            actor: { id: '00u1qw6mqitPHM8AJ0g7', type: 'User', alternateId: 'admin@example.com' },
            outcome: { result: 'SUCCESS' },
            target: [{ id: '0ua3sy8oskvRJO0CL2i9', type: 'AppUser', alternateId: 'jane@example.com' }],
          },
        ],
      },
    },
  },
})
