import type { Kinds } from 'hookonce/testing/contracts'

export const supabaseAuthHooks: Kinds = [
  {
    name: 'an e-mail to send',
    headers: { 'webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e47' },
    body: {
      metadata: {
        uuid: '8a1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e47',
        name: 'send-email',
        time: '2026-01-01T00:00:00Z',
      },
      user: { id: '8484b834-f29e-4af2-bf42-80644d154f76', email: 'user@example.com' },
      email_data: { token: '305805', email_action_type: 'signup' },
    },
    events: ['send-email'],
    redelivery: { 'header:webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e48', timestamp: 2_000 },
    another: { 'json:metadata.uuid': '8a1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e48' },
  },
  {
    name: 'a hook of an older server, without metadata',
    headers: { 'webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e47' },
    body: { user_id: '8484b834-f29e-4af2-bf42-80644d154f76', valid: false },
    redelivery: { 'header:webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e48', timestamp: 2_000 },
    another: { 'header:webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e49' },
    repeated:
      'An older server sends no metadata and a new `webhook-id` with every attempt. So a retry is handled again.',
  },
]
