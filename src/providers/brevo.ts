import {
  basicScheme,
  composite,
  defineProvider,
  type EventRule,
  hours,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'

/** Conversations name their events otherwise; mail that comes in (`items`) has no name for it. */
const kind = ['json:event', 'json:eventName', 'const:inbound'] as const

/** Alone, or in an array where the webhook is batched. */
const event: EventRule = {
  // `id` in the body is the webhook's. Events other than of a message (contacts, campaigns) have their time in the body.
  id: [
    composite(
      'json:event',
      'json:message-id',
      'json:email',
      'json:ts_event',
      optional('json:ts_epoch'),
      optional('json:link'),
    ),
    composite(kind, 'hash'),
  ],
  type: kind,
  reference: ['json:message-id', 'json:camp_id', 'json:email'],
}

export const brevo = defineProvider({
  key: 'brevo',
  name: 'Brevo',
  docs: 'https://developers.brevo.com/docs/secured-webhooks',
  confidence: 'verified',
  // By the webhook's setting: a bearer token, or user and password in its URL. Nothing is signed.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    basicAuth: basicScheme(),
  },
  events: [
    { ...event, each: '[]' },
    { ...event, otherwise: true },
  ],
  // By its documentation most error answers, even 5xx, end the retries and lose the event.
  retryWindowMs: hours(11.2),
  samples: {
    delivered: {
      event: 'delivered',
      email: 'example@example.com',
      id: 26224,
      date: '2026-11-15 12:00:00',
      ts: '{now:s}',
      'message-id': '<{id}@relay.domain.com>',
      ts_event: '{now:s}',
      subject: 'Subject Line',
      tags: ['order'],
      sending_ip: '185.41.28.109',
    },
    click: [
      {
        event: 'click',
        email: 'example@example.com',
        id: 26224,
        ts: '{now:s}',
        'message-id': '<{id}@relay.domain.com>',
        ts_event: '{now:s}',
        link: 'https://example.com/one',
      },
      {
        event: 'click',
        email: 'example@example.com',
        id: 26224,
        ts: '{now:s}',
        'message-id': '<{id}@relay.domain.com>',
        ts_event: '{now:s}',
        link: 'https://example.com/two',
      },
    ],
    list_addition: {
      id: 26225,
      event: 'list_addition',
      email: '{id}@example.com',
      key: 'xxxx',
      list_id: [3],
      date: '2026-11-15 12:00:00',
      ts: '{now:s}',
    },
  },
})
