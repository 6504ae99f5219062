import { defineProvider, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

/**
 * Hooks that only notify (send-sms, send-email, after-user-created) fit the background mode. Others need a decision in the
 * answer: `mode: 'inline'` and `reply`.
 */
export const supabaseAuthHooks = defineProvider({
  key: 'supabaseAuthHooks',
  name: 'Supabase Auth hooks (HTTP)',
  docs: 'https://supabase.com/docs/guides/auth/auth-hooks',
  confidence: 'verified',
  aliases: { hookSecret: 'secret' },
  verify: standardHmac('webhook', {
    // The separator is comma and space; in the specification it is a space.
    signature: { in: 'header:webhook-signature', prefix: 'v1,', separator: ', ' },
    secret: { encoding: 'base64', prefix: 'v1,whsec_' },
  }),
  events: {
    // webhook-id is new on every attempt. Older servers send no metadata: their retries cannot be distinguished from new
    // events, because two wrong passwords of one user have the same body.
    id: ['json:metadata.uuid', 'header:webhook-id'],
    type: 'json:metadata.name',
    reference: ['json:user.id', 'json:user_id'],
  },
  // Three attempts within five seconds.
  retryWindowMs: seconds(5),
  answer: { timeLimitMs: seconds(5), contentType: 'application/json', body: '{}' },
  sampleHeaders: { 'webhook-id': '6e1d4b0a-3f7e-4a2c-9a35-8f0d6b1c2e47' },
  samples: sampleFile('supabase-auth-hooks'),
})
