import { defineProvider, hmacScheme } from '../verification/define-provider.js'

export const confluence = defineProvider({
  key: 'confluence',
  name: 'Confluence',
  docs: 'https://developer.atlassian.com/cloud/confluence/modules/webhook/',
  // unchecked: read in a receiver's code only.
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
  samples: {
    page_updated: {
      webhookEvent: 'page_updated',
      timestamp: '{now:ms}',
      userAccountId: '5b10a2844c20165700ede21g',
      accountType: 'customer',
      page: { id: '{id:number}', spaceKey: 'DOC', title: 'Release notes', version: 4, contentType: 'page' },
    },
    comment_created: {
      webhookEvent: 'comment_created',
      timestamp: '{now:ms}',
      userAccountId: '5b10a2844c20165700ede21g',
      comment: { id: '{id:number}', parent: { id: 16973825, spaceKey: 'DOC', title: 'Release notes' } },
    },
  },
})
