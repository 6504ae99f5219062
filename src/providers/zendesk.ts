import { composite, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const zendesk = defineProvider({
  key: 'zendesk',
  name: 'Zendesk',
  docs: 'https://developer.zendesk.com/documentation/webhooks/verifying/',
  confidence: 'verified',
  aliases: { signingSecret: 'secret' },
  verify: hmacScheme({
    // The secret looks like base64 and is used as it stands.
    signature: 'header:x-zendesk-webhook-signature',
    encoding: 'base64',
    signed: '{timestamp}{body}',
    timestamp: { in: 'header:x-zendesk-webhook-signature-timestamp', unit: 'iso' },
  }),
  events: [
    // Event subscriptions. The version is there to tell them from a trigger's body, whose `id` may be a ticket's.
    {
      id: composite('json:zendesk_event_version', 'json:id'),
      type: 'json:type',
      reference: ['json:detail.id', 'json:subject'],
    },
    // Triggers and automations: the user writes the body (JSON here). unchecked: the name of this header.
    {
      id: 'header:x-zendesk-webhook-invocation-id',
      type: 'const:trigger',
      reference: ['json:ticket_id', 'json:ticket.id'],
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
  samples: {
    'zen:event-type:ticket.created': {
      account_id: 22129848,
      id: '{id}',
      type: '{type}',
      subject: 'zen:ticket:5158',
      time: '{now:iso}',
      zendesk_event_version: '2022-11-06',
      detail: { id: '5158', status: 'OPEN', priority: 'HIGH', subject: 'Printer is on fire' },
      event: {},
    },
    'zen:event-type:user.created': {
      account_id: 22129848,
      id: '{id}',
      type: '{type}',
      subject: 'zen:user:6596848315901',
      time: '{now:iso}',
      zendesk_event_version: '2022-06-20',
      detail: { id: '6596848315901', email: 'user@example.com', role: 'end-user' },
      event: {},
    },
    trigger: { ticket_id: '5158', status: 'Open', title: 'Printer is on fire' },
  },
})
