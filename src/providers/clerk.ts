import { defineProvider, hours, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

export const clerk = defineProvider({
  key: 'clerk',
  name: 'Clerk',
  docs: 'https://clerk.com/docs/webhooks/overview',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  // Sent by Svix, with its own header names only.
  verify: standardHmac('svix'),
  // The body has no id.
  events: { id: 'header:svix-id', type: 'json:type', reference: 'json:data.id' },
  // unchecked: the default of Svix; Clerk may have another setting.
  retryWindowMs: hours(27.6),
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'msg_',
  samples: sampleFile('clerk'),
})
