import { defineProvider, hours, tokenScheme } from '../verification/define-provider.js'

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
  samples: {
    message: {
      update_id: '{id:number}',
      message: {
        message_id: 1365,
        from: { id: 1111111, is_bot: false, first_name: 'Test', username: 'Test' },
        chat: { id: 1111111, type: 'private', first_name: 'Test', username: 'Test' },
        date: '{now:s}',
        text: '/start',
      },
    },
    callback_query: {
      update_id: '{id:number}',
      callback_query: {
        id: '4382bfdwdsb323b2d9',
        from: { id: 1111111, is_bot: false, first_name: 'Test', username: 'Test' },
        chat_instance: '42a8d2',
        data: 'Data from button callback',
      },
    },
  },
})
