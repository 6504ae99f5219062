import { choose, defineProvider, hours, seconds } from '../verification/define-provider.js'
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
  events: {
    id: 'header:svix-id',
    type: 'json:type',
    reference: 'json:data.id',
    references: {
      user: [
        choose('json:data.object', { user: 'json:data.id' }),
        'json:data.user_id',
        'json:data.public_user_data.user_id',
      ],
      organization: [
        choose('json:data.object', { organization: 'json:data.id' }),
        'json:data.organization.id',
        'json:data.organization_id',
      ],
    },
  },
  // unchecked: the default of Svix; Clerk may have another setting.
  retryWindowMs: hours(27.6),
  disables: {
    when: 'sends through Svix, which disables an endpoint after 5 days of failures',
    again: 'Enable it on the webhooks page of the Clerk dashboard.',
    docs: 'https://docs.svix.com/retries',
    confidence: 'likely',
  },
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'msg_',
  samples: sampleFile('clerk'),
})
