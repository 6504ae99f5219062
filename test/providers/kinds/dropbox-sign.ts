import type { Kinds } from 'hookonce/testing/contracts'

const event = {
  event_time: '1348177752',
  event_hash: '',
  event_metadata: { related_signature_id: 'ad4d8a769b555fa5ef38691465d426682bf2c992' },
}

export const dropboxSign: Kinds = [
  {
    name: 'an event of a signature request',
    // The time of the event is signed, so a retry has the same signature.
    redelivery: {},
    docs: 'https://developers.hellosign.com/docs/events/walkthrough/',
    body: {
      event: { ...event, event_type: 'signature_request_viewed' },
      signature_request: { signature_request_id: 'fa5c8a0b0f492d768749333ad6fcc214c111e967' },
    },
    events: ['signature_request_viewed'],
    another: [
      { 'json:event.event_metadata.related_signature_id': 'bd4d8a769b555fa5ef38691465d426682bf2c992' },
      { 'json:signature_request.signature_request_id': 'ga5c8a0b0f492d768749333ad6fcc214c111e967' },
      { 'json:event.event_type': 'signature_request_signed' },
      { timestamp: 1_000 },
    ],
  },
  {
    name: 'an event of a template',
    // The time of the event is signed, so a retry has the same signature.
    redelivery: {},
    body: { event: { ...event, event_type: 'template_created' }, template: { template_id: 'f57db65d' } },
    events: ['template_created'],
    another: { 'json:template.template_id': 'g57db65d' },
  },
  {
    name: 'the test of the callback URL',
    // The time of the event is signed, so a retry has the same signature.
    redelivery: {},
    body: { event: { ...event, event_type: 'callback_test' } },
    events: ['callback_test'],
    another: { timestamp: 1_000 },
  },
]
