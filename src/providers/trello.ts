import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'

export const trello = defineProvider({
  key: 'trello',
  name: 'Trello',
  docs: 'https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/',
  confidence: 'verified',
  // The URL is the callbackURL exactly as registered; behind a proxy give it as `publicUrl`. The secret is the
  // application's (OAuth) secret.
  verify: hmacScheme({
    algorithm: 'sha1',
    signature: 'header:x-trello-webhook',
    encoding: 'base64',
    signed: '{body}{url}',
  }),
  events: {
    // One action reaches every webhook on its board, list or card under the same id.
    id: 'json:action.id',
    type: 'json:action.type',
    reference: ['json:action.data.card.id', 'json:model.id'],
    // `model` and `webhook` are those of the webhook and of the moment, and consecutiveFailures counts up.
    content: 'none',
  },
  // unchecked: at creation the callback URL must answer a HEAD with 200.
  handshakes: [{ when: { method: 'HEAD' }, signed: false, reply: {} }],
  // After 30, 60 and 120 seconds.
  retryWindowMs: seconds(210),
  samples: {
    updateCard: {
      action: {
        id: '{id}',
        idMemberCreator: '50095233f62adbe04d935195',
        type: 'updateCard',
        date: '{now:iso}',
        data: {
          board: { id: '4d5ea62fd76aa1136000000c', name: 'Trello Development' },
          card: { id: '51a79e72dbb7e23c7c003778', idShort: 1458, name: 'Webhooks' },
          listBefore: { id: '51a79e5dba0ad2e12f002b5c', name: 'Doing' },
          listAfter: { id: '51a79e5dba0ad2e12f002b5d', name: 'Done' },
        },
      },
      model: { id: '4d5ea62fd76aa1136000000c', name: 'Trello Development', closed: false },
    },
    createCard: {
      action: {
        id: '{id}',
        idMemberCreator: '50095233f62adbe04d935195',
        type: 'createCard',
        date: '{now:iso}',
        data: {
          board: { id: '4d5ea62fd76aa1136000000c', name: 'Trello Development' },
          card: { id: '51a79e72dbb7e23c7c003779', idShort: 1459, name: 'Retries' },
          list: { id: '51a79e5dba0ad2e12f002b5c', name: 'Doing' },
        },
      },
      model: { id: '4d5ea62fd76aa1136000000c', name: 'Trello Development', closed: false },
    },
  },
})
