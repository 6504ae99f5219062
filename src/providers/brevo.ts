import {
  basicScheme,
  composite,
  defineProvider,
  type EventRule,
  hours,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** Conversations have their event name in another field; inbound mail (`items`) has none. */
const kind = ['json:event', 'json:eventName', 'const:inbound'] as const

/** One event, or an array of events if the webhook is batched. */
const event: EventRule = {
  // `id` in the body is that of the webhook. Events without a message (contacts, campaigns) have their time in the body.
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
  // The webhook has a bearer token, or user and password in its URL. Nothing is signed.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    basicAuth: basicScheme(),
  },
  events: [
    { ...event, each: '[]' },
    { ...event, otherwise: true },
  ],
  // Most error answers, even 5xx, end the retries and lose the event, as its documentation says.
  retryWindowMs: hours(11.2),
  samples: sampleFile('brevo'),
})
