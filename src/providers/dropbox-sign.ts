import { composite, days, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const dropboxSign = defineProvider({
  key: 'dropboxSign',
  name: 'Dropbox Sign (HelloSign)',
  docs: 'https://developers.hellosign.com/docs/events/overview/',
  confidence: 'verified',
  aliases: { apiKey: 'secret' },
  // The API key signs only the time and the type: do not trust the rest of the body, fetch it from the API.
  verify: hmacScheme({
    signature: 'json:event.event_hash',
    encoding: 'hex',
    signed: '{json:event.event_time}{json:event.event_type}',
    // The time of the event: retries for three days have the same time.
    timestamp: { in: 'json:event.event_time', unit: 's', tolerance: days(3.5) },
  }),
  document: { multipart: 'json' },
  events: {
    // There is no event id, and all events of one type in one second share `event_hash`.
    id: composite(
      'json:event.event_type',
      'json:event.event_time',
      optional(['json:signature_request.signature_request_id', 'json:template.template_id']),
      optional('json:event.event_metadata.related_signature_id'),
    ),
    type: 'json:event.event_type',
    reference: ['json:signature_request.signature_request_id', 'json:template.template_id'],
    // Only the JSON field: the multipart boundary changes with each attempt.
    content: 'part',
  },
  retryWindowMs: days(3),
  // Any other body is a failure, also for the callback test.
  answer: {
    timeLimitMs: null,
    httpStatus: 200,
    contentType: 'text/plain',
    body: 'Hello API Event Received',
  },
  samples: sampleFile('dropbox-sign'),
})
