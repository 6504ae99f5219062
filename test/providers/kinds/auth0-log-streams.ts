import type { Kinds } from 'hookonce/testing/contracts'

const entry = (id: string) => ({ log_id: id, data: { log_id: id, type: 's', user_id: 'auth0|1' } })

export const auth0LogStreams: Kinds = [
  {
    name: 'log entries as JSON Lines',
    docs: 'https://auth0.com/docs/customize/log-streams/custom-log-streams',
    format: 'lines',
    body: [entry('900'), entry('901')],
    events: ['s', 's'],
    another: { 'json:1.log_id': '902' },
  },
  {
    name: 'log entries as an array',
    body: [entry('900'), entry('901')],
    events: 2,
    another: { 'json:0.log_id': '903' },
  },
  { name: 'a log entry as an object', body: entry('900'), another: { 'json:log_id': '901' } },
]
