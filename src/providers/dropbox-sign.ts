import { composite, days, defineProvider, hmacScheme, optional } from '../verification/define-provider.js'

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
  samples: {
    signature_request_signed: {
      event: {
        event_time: '1348177752',
        event_type: 'signature_request_signed',
        event_hash: '',
        event_metadata: {
          related_signature_id: 'ad4d8a769b555fa5ef38691465d426682bf2c992',
          reported_for_account_id: '63522885f9261e2b04eea043933ee7313eb674fd',
          reported_for_app_id: null,
        },
      },
      account_guid: '63522885f9261e2b04eea043933ee7313eb674fd',
      signature_request: { signature_request_id: '{id}', title: 'NDA', is_complete: false },
    },
    template_created: {
      event: {
        event_time: '1348177760',
        event_type: 'template_created',
        event_hash: '',
        event_metadata: { related_signature_id: null, reported_for_app_id: null },
      },
      account_guid: '63522885f9261e2b04eea043933ee7313eb674fd',
      template: { template_id: '{id}', title: 'Lease' },
    },
  },
})
