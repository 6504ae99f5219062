import {
  composite,
  defineProvider,
  hmacScheme,
  minutes,
  optional,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const zoom = defineProvider({
  key: 'zoom',
  name: 'Zoom',
  docs: 'https://developers.zoom.us/docs/api/webhooks/',
  confidence: 'verified',
  aliases: { secretToken: 'secret' },
  verify: hmacScheme({
    signature: { in: 'header:x-zm-signature', prefix: 'v0=' },
    encoding: 'hex',
    signed: 'v0:{timestamp}:{body}',
    timestamp: { in: 'header:x-zm-request-timestamp', unit: 's' },
  }),
  events: {
    // There is no event id; the event name, the time in milliseconds and the object identify an event.
    id: composite(
      'json:event',
      'json:event_ts',
      'json:payload.account_id',
      optional(['json:payload.object.uuid', 'json:payload.object.id']),
      // Calls, chat messages and deauthorised users can share a millisecond.
      optional([
        'json:payload.object.participant.participant_uuid',
        'json:payload.object.participant.user_id',
        'json:payload.object.call_id',
        'json:payload.object.chat_message.message_id',
        'json:payload.user_id',
      ]),
    ),
    type: 'json:event',
    reference: ['json:payload.object.uuid', 'json:payload.object.id'],
  },
  handshakes: [
    {
      when: { 'json:event': 'endpoint.url_validation' },
      signed: true,
      reply: {
        json: {
          plainToken: '{json:payload.plainToken}',
          encryptedToken: { hmac: '{json:payload.plainToken}', encoding: 'hex' },
        },
      },
    },
  ],
  retryWindowMs: minutes(90),
  disables: {
    when: 'checks an endpoint every 72 hours, and sends nothing to one that does not pass',
    again: 'Validate the endpoint again in the Zoom App Marketplace, Event Subscriptions of the app.',
    docs: 'https://developers.zoom.us/changelog/platform/webhook-url-validation/',
    confidence: 'likely',
  },
  answer: { timeLimitMs: seconds(3) },
  samples: sampleFile('zoom'),
})
