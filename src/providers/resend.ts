import { defineProvider, hours } from '../verification/define-provider.js'
import { standardHmac } from './shared/standard.js'

export const resend = defineProvider({
  key: 'resend',
  name: 'Resend',
  docs: 'https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests',
  confidence: 'verified',
  aliases: { signingSecret: 'secret', webhookSecret: 'secret' },
  // It sends through Svix, under Svix's header names.
  verify: standardHmac('svix'),
  events: {
    id: 'header:svix-id',
    type: 'json:type',
    // Contacts and domains have an id of their own.
    reference: ['json:data.email_id', 'json:data.id'],
  },
  retryWindowMs: hours(27.6),
  sampleId: 'msg_',
  samples: {
    'email.delivered': {
      type: 'email.delivered',
      created_at: '{now:iso}',
      data: {
        created_at: '{now:iso}',
        email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
        from: 'Acme <onboarding@example.com>',
        to: ['delivered@example.com'],
        subject: 'Sending this example',
      },
    },
    'contact.created': {
      type: 'contact.created',
      created_at: '{now:iso}',
      data: {
        id: 'e169aa45-1ecf-4183-9955-b1499d5701d3',
        audience_id: '78261eea-8f8b-4381-83c6-79fa7120f1cf',
        email: 'steve@example.com',
        unsubscribed: false,
      },
    },
  },
})
