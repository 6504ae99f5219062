import {
  choose,
  composite,
  defineProvider,
  hmacScheme,
  part,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

/** `zen:ticket:5158` */
const subject = part(':', 1, 'json:subject')

export const zendesk = defineProvider({
  key: 'zendesk',
  name: 'Zendesk',
  docs: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  verify: hmacScheme({
    // The secret looks like base64 but is not decoded.
    signature: 'header:x-zendesk-webhook-signature',
    encoding: 'base64',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:x-zendesk-webhook-signature-timestamp', unit: 'iso' },
  }),
  events: [
    // Event subscriptions. The version distinguishes them from a trigger's body, whose `id` may be that of a ticket.
    {
      id: composite('json:zendesk_event_version', 'json:id'),
      type: 'json:type',
      reference: ['json:detail.id', 'json:subject'],
      references: {
        user: [choose(subject, { user: 'json:detail.id' }), 'json:detail.requester_id'],
        ticket: choose(subject, { ticket: 'json:detail.id' }),
        organization: [choose(subject, { organization: 'json:detail.id' }), 'json:detail.organization_id'],
      },
    },
    // Triggers and automations: the user defines the body (JSON here). unchecked: the name of this header.
    {
      id: 'header:x-zendesk-webhook-invocation-id',
      type: 'const:trigger',
      reference: ['json:ticket_id', 'json:ticket.id'],
      references: {
        ticket: ['json:ticket_id', 'json:ticket.id'],
        user: ['json:requester_id', 'json:ticket.requester.id'],
      },
      otherwise: true,
    },
  ],
  retryWindowMs: null,
  // unchecked: ten or twelve seconds.
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-zendesk-account-id', 'x-zendesk-webhook-id', 'x-zendesk-webhook-invocation-id'],
  sampleHeaders: {
    'x-zendesk-account-id': '123456',
    'x-zendesk-webhook-id': '01F1KRFQ6BG29CNWFR60NK5FNY',
    'x-zendesk-webhook-invocation-id': '01{id}',
  },
  samples: sampleFile('zendesk'),
})
