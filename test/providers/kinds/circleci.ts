import type { Kinds } from 'hookonce/testing/contracts'

export const circleci: Kinds = [
  {
    name: 'a workflow that has ended',
    headers: { 'circleci-event-type': 'workflow-completed' },
    body: {
      id: '3888f21b-eaa7-38e3-8f3d-75a63bba8895',
      type: 'workflow-completed',
      happened_at: '2021-09-01T22:49:34.317Z',
      pipeline: { id: '1285fe1d' },
      workflow: { id: 'fda08377', status: 'success' },
    },
    events: ['workflow-completed'],
    another: { 'json:id': '4888f21b-eaa7-38e3-8f3d-75a63bba8895' },
  },
  {
    name: 'a job that has ended',
    headers: { 'circleci-event-type': 'job-completed' },
    body: { id: '8bd71c28', type: 'job-completed', job: { id: '8b91f9a8', status: 'failed' } },
    events: ['job-completed'],
    another: { 'json:id': '9bd71c28' },
  },
]
