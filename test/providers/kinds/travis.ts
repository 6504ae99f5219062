import type { Kinds } from 'hookonce/testing/contracts'

const build = {
  id: 7856,
  number: '18',
  type: 'push',
  state: 'passed',
  status: 0,
  status_message: 'Passed',
  started_at: '2014-04-03T10:21:05Z',
  finished_at: '2014-04-03T10:22:05Z',
  repository: { id: 1771959, name: 'docs', owner_name: 'travis-ci' },
}

export const travis: Kinds = [
  {
    name: 'a build that ended',
    body: { payload: build },
    events: ['push'],
    // The same build, run again.
    another: [{ 'json:payload.finished_at': '2014-04-03T11:22:05Z' }, { 'json:payload.state': 'failed' }],
  },
  {
    name: 'a build that started',
    body: {
      payload: { ...build, state: 'started', status: null, status_message: 'Pending', finished_at: null },
    },
    events: ['push'],
    another: { 'json:payload.started_at': '2014-04-03T11:21:05Z' },
  },
]
