import { composite, days, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const dropboxSign = defineProvider({
  key: 'dropboxSign',
  name: 'Dropbox Sign (HelloSign)',
  docs: 'https://developers.hellosign.com/docs/events/overview/',
  confidence: 'verified',
  aliases: { apiKey: 'secret' },
  // The API key signs the time and the type and nothing else: the rest of the body must be looked up, not believed.
  verify: hmacScheme({
    signature: 'json:event.event_hash',
    encoding: 'hex',
    signed: '{json:event.event_time}{json:event.event_type}',
    // The event's time: retries for three days come with the old one.
    timestamp: { in: 'json:event.event_time', unit: 's', toleranceMs: days(3.5) },
  }),
  document: { multipart: 'json' },
  events: {
    // There is no event id, and `event_hash` is shared by all events of one type in one second.
    id: composite(
      'json:event.event_type',
      'json:event.event_time',
      optional(['json:signature_request.signature_request_id', 'json:template.template_id']),
      optional('json:event.event_metadata.related_signature_id'),
    ),
    type: 'json:event.event_type',
    reference: ['json:signature_request.signature_request_id', 'json:template.template_id'],
    // The JSON field alone: the multipart boundary changes on each attempt.
    content: 'part',
  },
  retryWindowMs: days(3),
  // Anything else counts as a failure, for the callback test as well.
  answer: {
    timeLimitMs: null,
    httpStatus: 200,
    contentType: 'text/plain',
    body: 'Hello API Event Received',
  },
  samples: sampleFile('dropbox-sign'),
})
