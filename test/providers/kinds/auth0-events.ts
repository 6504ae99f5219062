import type { Kinds } from 'hookonce/testing/contracts'

export const auth0Events: Kinds = [
  {
    name: 'an event',
    docs: 'https://auth0.com/docs/customize/events',
    body: {
      id: 'evt_1234567890abcdef',
      source: 'urn:auth0:acme.auth0.com',
      specversion: '1.0',
      type: 'user.updated',
      time: '2025-01-29T14:44:28.704Z',
      data: { object: { user_id: 'auth0|507f1f77bcf86cd799439020' } },
    },
    events: ['user.updated'],
    another: { 'json:id': 'evt_1234567890abcdf0' },
  },
]
