import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'twitch-eventsub-message-id': 'befa7b53-d79d-478f-86b9-120f112b044e',
  'twitch-eventsub-message-retry': '0',
  'twitch-eventsub-message-type': 'notification',
  'twitch-eventsub-subscription-type': 'channel.follow',
  'twitch-eventsub-subscription-version': '2',
}

export const twitchEventsub: Kinds = [
  {
    name: 'a notification',
    headers,
    body: {
      subscription: { id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4', type: 'channel.follow' },
      event: { user_id: '1337', broadcaster_user_id: '12826', followed_at: '2020-07-15T18:16:11.17106713Z' },
    },
    events: ['channel.follow'],
    redelivery: { 'header:twitch-eventsub-message-retry': '1' },
    another: { 'header:twitch-eventsub-message-id': 'befa7b53-d79d-478f-86b9-120f112b044f' },
  },
  {
    name: 'a batch of drop entitlements',
    docs: 'https://dev.twitch.tv/docs/eventsub/eventsub-subscription-types/#dropentitlementgrant',
    headers: { ...headers, 'twitch-eventsub-subscription-type': 'drop.entitlement.grant' },
    body: {
      subscription: { id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4', type: 'drop.entitlement.grant' },
      events: [
        {
          id: 'bf7c8577-e3e2-4c11-b1bf-6c8c9b4d1f1c',
          data: { entitlement_id: 'fb78259e-fb81-4d1b-8333-34a06ffc24c0' },
        },
        {
          id: 'bf7c8577-e3e2-4c11-b1bf-6c8c9b4d1f1d',
          data: { entitlement_id: 'fb78259e-fb81-4d1b-8333-34a06ffc24c1' },
        },
      ],
    },
    events: ['drop.entitlement.grant', 'drop.entitlement.grant'],
    another: { 'json:events.0.id': 'bf7c8577-e3e2-4c11-b1bf-6c8c9b4d1f1e' },
  },
  {
    name: 'a revocation',
    headers: { ...headers, 'twitch-eventsub-message-type': 'revocation' },
    body: {
      subscription: {
        id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
        status: 'authorization_revoked',
        type: 'channel.follow',
      },
    },
    events: ['revocation'],
    another: { 'header:twitch-eventsub-message-id': 'befa7b53-d79d-478f-86b9-120f112b044f' },
  },
  {
    name: 'the challenge',
    headers: { ...headers, 'twitch-eventsub-message-type': 'webhook_callback_verification' },
    body: { challenge: 'pogchamp-kappa-360noscope-vohiyo', subscription: { id: 'f1c2a387' } },
    handshake: true,
  },
]
