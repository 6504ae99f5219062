import type { Kinds } from 'hookonce/testing/contracts'

export const square: Kinds = [
  {
    name: 'an event',
    body: {
      merchant_id: '6SSW7HV8K2ST5',
      type: 'payment.updated',
      event_id: '13b867cf-db3d-4b1c-90b6-2f32a9d78124',
      created_at: '2020-02-06T21:27:34.308Z',
      data: { type: 'payment', id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY', object: { payment: { version: 2 } } },
    },
    events: ['payment.updated'],
    another: { 'json:event_id': '13b867cf-db3d-4b1c-90b6-2f32a9d78125' },
  },
  {
    name: 'the test event of the dashboard',
    body: {
      merchant_id: '6SSW7HV8K2ST5',
      type: 'oauth.authorization.revoked',
      event_id: 'c7eee8c3-2c7f-4a5a-9e5c-9e5c2f0b5c11',
      created_at: '2020-02-06T21:27:34.308Z',
      data: {
        type: 'revocation',
        id: 'ab9f7a8f',
        object: { revocation: { revoked_at: '2020-02-06T21:27:30.792Z' } },
      },
    },
    events: ['oauth.authorization.revoked'],
    another: { 'json:event_id': 'c7eee8c3-2c7f-4a5a-9e5c-9e5c2f0b5c12' },
  },
]
