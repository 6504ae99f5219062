import { defineProvider, hmacScheme, hours, minutes, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const box = defineProvider({
  key: 'box',
  name: 'Box',
  docs: 'https://developer.box.com/guides/webhooks/v2/signatures-v2/',
  confidence: 'verified',
  verify: hmacScheme({
    // One signature with each of the app's two keys; configure both keys as secrets. Box's library also tries the body
    // with escaped non-ASCII letters, for a body that was parsed and serialised again; received bytes do not need it.
    signature: { in: ['header:box-signature-primary', 'header:box-signature-secondary'] },
    encoding: 'base64',
    signed: '{body}{timestamp}',
    timestamp: { in: 'header:box-delivery-timestamp', unit: 'iso', tolerance: minutes(10) },
  }),
  // box-delivery-id is new on every retry; the id in the body is not.
  events: { id: 'json:id', type: 'json:trigger', reference: 'json:source.id' },
  retryWindowMs: hours(2),
  disables: {
    when: 'deletes a webhook when its last answered delivery was 30 days ago and events went on for more than 14 days after it',
    again: 'Create it again in the Developer Console or with the API of Box.',
    docs: 'https://developer.box.com/guides/webhooks/v2/delete-v2',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(30) },
  sampleHeaders: { 'box-signature-version': '1', 'box-signature-algorithm': 'HmacSHA256' },
  samples: sampleFile('box'),
})
