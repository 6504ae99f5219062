import { composite, defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const googleCalendar = defineProvider({
  key: 'googleCalendar',
  name: 'Google Calendar, Google Drive (push channels)',
  docs: 'https://developers.google.com/workspace/calendar/api/guides/push',
  confidence: 'verified',
  // Every delivery has the `token` of watch() in clear.
  verify: tokenScheme({ in: 'header:x-goog-channel-token' }),
  events: {
    // The number is unique within one channel.
    id: composite('header:x-goog-channel-id', 'header:x-goog-message-number'),
    type: 'header:x-goog-resource-state',
    reference: 'header:x-goog-resource-id',
  },
  // The first message of a channel means that the channel is open.
  handshakes: [{ when: { 'header:x-goog-resource-state': 'sync' }, signed: true, reply: {} }],
  retryWindowMs: null,
  // All values are in headers: the bodies are empty and therefore equal.
  contentGuard: 'accept',
  keepHeaders: [
    'x-goog-channel-id',
    'x-goog-channel-expiration',
    'x-goog-message-number',
    'x-goog-resource-id',
    'x-goog-resource-state',
    'x-goog-resource-uri',
    'x-goog-changed',
  ],
  sampleId: 'number',
  sampleHeaders: {
    'x-goog-channel-id': '4ba78bf0-6a47-11e2-bcfd-0800200c9a66',
    'x-goog-message-number': '{id}',
    'x-goog-resource-id': 'ret08u3rv24htgh289g',
    'x-goog-resource-uri': 'https://www.googleapis.com/calendar/v3/calendars/my_calendar@gmail.com/events',
  },
  samples: sampleFile('google-calendar'),
})
