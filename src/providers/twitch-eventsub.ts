import { defineProvider, hmacScheme, mapped, minutes } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** The type of message decides: a revocation is the end of the subscription, not one of its events. */
const type = [
  mapped('header:twitch-eventsub-message-type', { notification: '' }),
  'header:twitch-eventsub-subscription-type',
  'json:$.subscription.type',
] as const

export const twitchEventsub = defineProvider({
  key: 'twitchEventsub',
  name: 'Twitch EventSub',
  docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events/',
  confidence: 'verified',
  verify: hmacScheme({
    signature: { in: 'header:twitch-eventsub-message-signature', prefix: 'sha256=' },
    encoding: 'hex',
    signed: '{header:twitch-eventsub-message-id}{timestamp}{body}',
    timestamp: {
      in: 'header:twitch-eventsub-message-timestamp',
      unit: 'iso',
      tolerance: minutes(10),
    },
    secret: { minBytes: { least: 10, why: 'Twitch allows secrets of 10 to 100 characters' } },
  }),
  events: [
    // Batches, for drops: Twitch recommends the id of each event for dedupe.
    { each: 'events[]', id: 'json:id', type, reference: 'json:$.subscription.id' },
    {
      id: 'header:twitch-eventsub-message-id',
      type,
      // The start and the end of a stream are two subscriptions of one broadcaster.
      reference: [
        'json:event.broadcaster_user_id',
        'json:subscription.condition.broadcaster_user_id',
        'json:subscription.id',
      ],
      otherwise: true,
    },
  ],
  handshakes: [
    {
      when: { 'header:twitch-eventsub-message-type': 'webhook_callback_verification' },
      signed: true,
      reply: { text: '{json:challenge}' },
    },
  ],
  retryWindowMs: null,
  disables: {
    when: 'revokes a subscription after too many failed notifications',
    again: 'Create the subscription again with the API of Twitch.',
    docs: 'https://dev.twitch.tv/docs/eventsub/handling-webhook-events',
    confidence: 'verified',
  },
  // "A few seconds". A subscription with too many slow answers is revoked.
  answer: { timeLimitMs: null },
  keepHeaders: [
    'twitch-eventsub-message-id',
    'twitch-eventsub-message-retry',
    'twitch-eventsub-message-type',
    'twitch-eventsub-subscription-type',
  ],
  sampleHeaders: {
    'twitch-eventsub-message-id': '{id}',
    'twitch-eventsub-message-retry': '0',
    'twitch-eventsub-message-type': 'notification',
    'twitch-eventsub-subscription-type': '{type}',
    'twitch-eventsub-subscription-version': '1',
  },
  samples: sampleFile('twitch-eventsub'),
})
