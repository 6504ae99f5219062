import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const confluence = defineProvider({
  key: 'confluence',
  name: 'Confluence',
  docs: 'https://developer.atlassian.com/cloud/confluence/modules/webhook/',
  // unchecked: the source is the code of another receiver.
  confidence: 'likely',
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  // There is no event id; the body has the time in milliseconds.
  events: {
    id: 'hash',
    type: ['json:webhookEvent', 'json:event'],
    reference: [
      'json:comment.id',
      'json:attachment.id',
      'json:blog.id',
      'json:page.id',
      'json:space.id',
      'json:user.accountId',
    ],
  },
  retryWindowMs: null,
  sampleId: 'number',
  samples: sampleFile('confluence'),
})
