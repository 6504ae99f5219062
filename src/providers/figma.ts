import { composite, defineProvider, optional, tokenScheme } from '../verification/define-provider.js'

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
  samples: {
    FILE_UPDATE: {
      event_type: '{type}',
      file_key: '{id}',
      file_name: 'Design system',
      passcode: '',
      timestamp: '{now:iso}',
      webhook_id: '22',
    },
    FILE_COMMENT: {
      event_type: '{type}',
      comment: [{ text: 'Lovely' }],
      comment_id: '{id}',
      file_key: 'zH5Di7vQGqbkqgjXyq8Tcm',
      file_name: 'Design system',
      passcode: '',
      timestamp: '{now:iso}',
      triggered_by: { id: '813845097374535682', handle: 'Evan' },
      webhook_id: '22',
    },
    LIBRARY_PUBLISH: {
      event_type: '{type}',
      created_components: [{ key: '{id}', name: 'Button' }],
      modified_components: [],
      file_key: 'zH5Di7vQGqbkqgjXyq8Tcm',
      file_name: 'Design system',
      passcode: '',
      timestamp: '{now:iso}',
      webhook_id: '22',
    },
  },
})
