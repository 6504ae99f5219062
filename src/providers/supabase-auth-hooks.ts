import { defineProvider, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

/**
 * For hooks that only tell (send-sms, send-email, after-user-created). The others wait for a decision in the answer,
 * which a log of events cannot give.
 */
export const supabaseAuthHooks = defineProvider({
  key: 'supabaseAuthHooks',
  name: 'Supabase Auth hooks (HTTP)',
  docs: 'https://supabase.com/docs/guides/auth/auth-hooks',
  confidence: 'verified',
  aliases: { hookSecret: 'secret' },
  verify: standardHmac('webhook', {
    // Joined with comma and space, where the specification has a space.
    signature: { in: 'header:webhook-signature', prefix: 'v1,', separator: ', ' },
    secret: { encoding: 'base64', prefix: 'v1,whsec_' },
  }),
  events: {
    // webhook-id is new on every attempt. Older servers send no metadata: their attempts cannot be told from new events,
    // since two wrong passwords of one user have the same body.
    id: ['json:metadata.uuid', 'header:webhook-id'],
    type: 'json:metadata.name',
    reference: ['json:user.id', 'json:user_id'],
  },
  // Three attempts within five seconds in all.
  retryWindowMs: seconds(5),
  answer: { timeLimitMs: seconds(5), contentType: 'application/json', body: '{}' },
  sampleHeaders: { 'webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e47' },
  samples: sampleFile('supabase-auth-hooks'),
})
