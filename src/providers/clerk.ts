import { defineProvider, hours, seconds } from '../verification/define-provider.js'
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
  samples: {
    'user.created': {
      type: 'user.created',
      object: 'event',
      timestamp: '{now:ms}',
      instance_id: 'ins_2J1vL0GkUe8cO2Vxk3dY9h1YFQa',
      data: {
        id: 'user_29w83sxmDNGwOuEthce5gg56FcC',
        object: 'user',
        first_name: 'Example',
        last_name: 'Example',
        email_addresses: [{ id: 'idn_29w83yL7CwVlJXylYLxcslromF1', email_address: 'example@example.org' }],
        created_at: '{now:ms}',
      },
      event_attributes: { http_request: { client_ip: '192.0.2.1', user_agent: 'Mozilla/5.0' } },
    },
    'session.ended': {
      type: 'session.ended',
      object: 'event',
      timestamp: '{now:ms}',
      instance_id: 'ins_2J1vL0GkUe8cO2Vxk3dY9h1YFQa',
      data: {
        id: 'sess_2Yb9fM3pTnq',
        object: 'session',
        status: 'ended',
        user_id: 'user_29w83sxmDNGwOuEthce5gg56FcC',
      },
    },
  },
})
