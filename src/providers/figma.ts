import { composite, defineProvider, optional, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const figma = defineProvider({
  key: 'figma',
  name: 'Figma (webhooks v2)',
  docs: 'https://developers.figma.com/docs/rest-api/webhooks-security/',
  confidence: 'verified',
  // The passcode given when the webhook was made comes back in the body; nothing is signed.
  verify: tokenScheme({ in: 'json:passcode' }),
  events: {
    // There is no event id, and the time is in whole seconds. A library's publication comes as several events, which
    // differ in their lists of assets.
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
  // unchecked: its documentation tells of retries, it was not read.
  retryWindowMs: null,
  samples: sampleFile('figma'),
})
