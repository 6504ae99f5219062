import { defineProvider, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const clerk = defineProvider({
  key: 'clerk',
  name: 'Clerk',
  docs: 'https://clerk.com/docs/webhooks/overview',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  // Sent by Svix, under its branded headers only.
  verify: standardHmac('svix'),
  // The body has no id of its own.
  events: { id: 'header:svix-id', type: 'json:type', reference: 'json:data.id' },
  // unchecked: Svix's defaults; Clerk may have set others.
  retryWindowMs: hours(27.6),
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'msg_',
  samples: sampleFile('clerk'),
})
