import type { Kinds } from 'hookonce/testing/contracts'

export const retell: Kinds = [
  {
    name: 'a call that ended',
    docs: 'https://docs.retellai.com/features/webhook-overview',
    body: {
      event: 'call_ended',
      call: { call_id: 'Jabr9TXYYJHfvl6Syypi88rdAHYHmcq6', end_timestamp: 1714608491736 },
    },
    events: ['call_ended'],
    another: [{ 'json:call.call_id': 'Jabr9TXYYJHfvl6Syypi88rdAHYHmcq7' }, { 'json:event': 'call_analyzed' }],
  },
  {
    name: 'an updated transcript',
    docs: 'https://docs.retellai.com/features/webhook-overview',
    body: { event: 'transcript_updated', call: { call_id: 'Jabr9TXY', transcript: 'Agent: hi' } },
    events: ['transcript_updated'],
    another: { 'json:call.transcript': 'Agent: hi\nUser: hello' },
  },
]
