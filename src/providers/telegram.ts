import { defineProvider, hours, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const telegram = defineProvider({
  key: 'telegram',
  name: 'Telegram Bot API',
  docs: 'https://core.telegram.org/bots/api#setwebhook',
  confidence: 'verified',
  aliases: { secretToken: 'secret' },
  // Every delivery has the `secret_token` of setWebhook in clear; the body is not signed.
  verify: tokenScheme({ in: 'header:x-telegram-bot-api-secret-token' }),
  events: {
    // Unique for a bot: use one source per bot. After a week without updates it may continue at a random number.
    id: 'json:update_id',
    type: 'keys:update_id',
    // The chat; for a pressed button that of its message. Inline queries, payments and answers to a poll have only a user.
    reference: ['json:*.chat.id', 'json:*.message.chat.id', 'json:*.from.id', 'json:*.user.id', 'json:*.id'],
  },
  retryWindowMs: hours(24),
  sampleId: 'number',
  samples: sampleFile('telegram'),
})
