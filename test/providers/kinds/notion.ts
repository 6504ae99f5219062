import type { Kinds } from 'hookonce/testing/contracts'

export const notion: Kinds = [
  {
    name: 'an event',
    docs: 'https://developers.notion.com/reference/webhooks-events-delivery',
    body: {
      id: '367cba44-b6f3-4c92-81e7-6a2e9659efd4',
      timestamp: '2024-12-05T23:55:34.285Z',
      workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
      type: 'page.created',
      attempt_number: 1,
      entity: { id: '153104cd-477e-809d-8dc4-ff2d96ae3090', type: 'page' },
    },
    events: ['page.created'],
    redelivery: { 'json:attempt_number': 2 },
    another: { 'json:id': '467cba44-b6f3-4c92-81e7-6a2e9659efd4' },
  },
  {
    name: 'the verification token of a new subscription',
    body: { verification_token: 'secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl' },
    handshake: 'unsigned',
  },
]
