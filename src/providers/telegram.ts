import { defineProvider, hours, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const telegram = defineProvider({
  key: 'telegram',
  name: 'Telegram Bot API',
  docs: 'https://core.telegram.org/bots/api#setwebhook',
  confidence: 'verified',
  aliases: { secretToken: 'secret' },
  // The `secret_token` given to setWebhook comes back verbatim; the body is not signed.
  verify: tokenScheme({ in: 'header:x-telegram-bot-api-secret-token' }),
  events: {
    // Unique per bot: one source for each bot. It may start over at random after a week without updates.
    id: 'json:update_id',
    type: 'keys:update_id',
    reference: ['json:message.message_id', 'json:callback_query.id', 'json:edited_message.message_id'],
  },
  retryWindowMs: hours(24),
  sampleId: 'number',
  samples: sampleFile('telegram'),
})
