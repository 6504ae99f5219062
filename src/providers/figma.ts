import { composite, defineProvider, optional, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const figma = defineProvider({
  key: 'figma',
  name: 'Figma (webhooks v2)',
  docs: 'https://developers.figma.com/docs/rest-api/webhooks-security/',
  confidence: 'verified',
  // The body has the passcode of the webhook; nothing is signed.
  verify: tokenScheme({ in: 'json:passcode' }),
  events: {
    // There is no event id, and the time is in seconds. The publication of a library is several events, which differ in
    // their lists of assets.
    id: composite(
      'json:webhook_id',
      'json:event_type',
      'json:timestamp',
      optional('json:file_key'),
      optional(['json:comment_id', 'json:version_id', 'json:node_id', 'json:*[].key']),
    ),
    type: 'json:event_type',
    reference: 'json:file_key',
  },
  // unchecked: the part of its documentation about retries was not read.
  retryWindowMs: null,
  samples: sampleFile('figma'),
})
