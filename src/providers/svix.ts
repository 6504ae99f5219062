import { defineProvider, hours, seconds } from '../verification/define-provider.js'
import { svixList } from './lists/svix.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const svix = defineProvider({
  key: 'svix',
  name: 'Svix',
  docs: 'https://docs.svix.com/receiving/verifying-payloads/how-manual',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  verify: standardHmac('{option:headerPrefix}'),
  options: {
    headerPrefix: {
      what: 'The prefix of the headers; `webhook` for senders that use the names of Standard Webhooks',
      default: 'svix',
      example: 'svix',
    },
  },
  // Every retry and resend has the same one.
  events: {
    id: 'header:{option:headerPrefix}-id',
    type: ['json:type', 'json:event_type', 'json:eventType'],
    reference: 'json:data.id',
  },
  retryWindowMs: hours(27.6),
  list: svixList,
  disables: {
    when: 'disables an endpoint after 5 days of failures',
    again: 'Enable it at the sender that uses Svix.',
    docs: 'https://docs.svix.com/retries',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'msg_',
  samples: sampleFile('standard-webhooks'),
})
