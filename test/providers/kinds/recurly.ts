import type { Kinds } from 'hookonce/testing/contracts'

const merged =
  'Two changes of one object within a second count as one event. The notification says only that the object changed.'

export const recurly: Kinds = [
  {
    name: 'a changed subscription',
    body: {
      id: 'sd28t3zdm59r',
      object_type: 'subscription',
      site_id: 'qc326l1hl8k9',
      event_type: 'updated',
      event_time: '2022-03-22T21:37:24Z',
      uuid: '63ab531e1d5b1d47eaf1ef44eeb853c3',
    },
    events: ['subscription.updated'],
    another: [{ 'json:event_time': '2022-03-22T21:37:25Z' }, { 'json:event_type': 'canceled' }],
    merged,
  },
  {
    name: 'a changed account',
    body: {
      id: 'sd28t3zdm5ac',
      object_type: 'account',
      site_id: 'qc326l1hl8k9',
      event_type: 'updated',
      event_time: '2022-03-22T21:37:24Z',
      account_code: '1',
    },
    events: ['account.updated'],
    another: { 'json:event_time': '2022-03-22T21:37:25Z' },
    merged,
  },
]
