import { defineProvider, hours } from '../verification/define-provider.js'
import { resendList } from './lists/resend.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const resend = defineProvider({
  key: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  // Sent by Svix, with its header names.
  verify: standardHmac('svix'),
  events: {
    id: 'header:svix-id',
    type: 'json:type',
    // Contacts and domains have their own id.
    reference: ['json:data.email_id', 'json:data.id'],
  },
  retryWindowMs: hours(27.6),
  list: resendList,
  disables: {
    when: 'sends through Svix, which disables an endpoint after 5 days of failures',
    again: 'Enable it on the webhooks page of the Resend dashboard.',
    docs: 'https://docs.svix.com/retries',
    confidence: 'likely',
  },
  sampleId: 'msg_',
  samples: sampleFile('resend'),
})
