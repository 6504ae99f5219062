import { defineProvider, hmacScheme, hours } from '../verification/define-provider.js'

export const notion = defineProvider({
  key: 'notion',
  name: 'Notion',
  docs: 'https://developers.notion.com/reference/webhooks',
  confidence: 'verified',
  // The secret is the verification token of the first request (see below), used as it is.
  verify: hmacScheme({ signature: { in: 'header:x-notion-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    id: 'json:id',
    type: 'json:type',
    reference: 'json:entity.id',
    // attempt_number counts up.
    content: 'none',
  },
  // A new subscription first posts the token it will sign with, itself unsigned. It is acknowledged and not kept:
  // whoever sets the subscription up reads it off the request and pastes it into Notion's settings.
  handshakes: [{ when: { 'json:verification_token': true }, signed: false, reply: {} }],
  // unchecked: up to eight attempts, the last about a day after the first.
  retryWindowMs: hours(24),
  samples: {
    'page.content_updated': {
      id: '{id}',
      timestamp: '{now:iso}',
      workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
      subscription_id: '29d75c0d-5546-4414-8459-7b7a92f1fc4b',
      integration_id: '0ef2e755-4912-8096-91c1-00376a88a5ca',
      type: 'page.content_updated',
      authors: [{ id: 'c7c11cca-1d73-471d-9b6e-bdef51470190', type: 'person' }],
      attempt_number: 1,
      entity: { id: '0ef104cd-477e-80e1-8571-cfd10e92339a', type: 'page' },
      data: { updated_blocks: [{ id: '153104cd-477e-80ec-a87d-f7ff0236d35c', type: 'block' }] },
    },
    'comment.created': {
      id: '{id}',
      timestamp: '{now:iso}',
      workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
      subscription_id: '29d75c0d-5546-4414-8459-7b7a92f1fc4b',
      integration_id: '0ef2e755-4912-8096-91c1-00376a88a5ca',
      type: 'comment.created',
      authors: [{ id: 'c7c11cca-1d73-471d-9b6e-bdef51470190', type: 'person' }],
      attempt_number: 1,
      entity: { id: '153104cd-477e-80ec-95a8-001d7b5ac2f1', type: 'comment' },
      data: { page_id: '0ef104cd-477e-80e1-8571-cfd10e92339a' },
    },
  },
})
