import type { Kinds } from 'hookonce/testing/contracts'

export const launchdarkly: Kinds = [
  {
    name: 'a changed flag',
    body: {
      _id: '5a1b2c3d4e5f6a7b8c9d0e2a',
      date: 1600000000000,
      kind: 'flag',
      accesses: [{ action: 'updateOn', resource: 'proj/default:env/production:flag/example-flag' }],
      target: { resources: ['proj/default:env/production:flag/example-flag'] },
    },
    events: ['flag.updateOn'],
    another: { 'json:_id': '5a1b2c3d4e5f6a7b8c9d0e2b' },
  },
  {
    name: 'an entry of the audit log without accesses',
    body: { _id: '5a1b2c3d4e5f6a7b8c9d0e2c', date: 1600000000000, kind: 'member' },
    events: ['member'],
    another: { 'json:_id': '5a1b2c3d4e5f6a7b8c9d0e2d' },
  },
]
