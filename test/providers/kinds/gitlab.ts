import type { Kinds } from 'hookonce/testing/contracts'

const push = {
  object_kind: 'push',
  before: '95790bf891e76fee5e1747ab589903a6a1f80f22',
  after: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  ref: 'refs/heads/main',
  checkout_sha: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
  project: { id: 15, path_with_namespace: 'mike/diaspora' },
}

export const gitlab: Kinds = [
  {
    name: 'a branch that is pushed, deleted and pushed again',
    credential: 'secret',
    headers: { 'x-gitlab-event': 'Push Hook', 'idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f' },
    body: push,
    events: ['Push Hook'],
    another: { 'header:idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd72330' },
  },
  {
    name: 'a signed event',
    credential: 'signingSecret',
    headers: { 'x-gitlab-event': 'Push Hook', 'webhook-id': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f' },
    body: push,
    events: ['Push Hook'],
    another: { 'header:webhook-id': 'f5e5f430-f57b-4e6e-9fac-d9128cd72330' },
  },
  {
    name: 'an event of a release before 17.4, which has no idempotency key',
    credential: 'secret',
    headers: {
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
    },
    body: push,
    events: ['Push Hook'],
    another: [
      { 'header:x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954f' },
      // A chain of webhooks shares the UUID.
      { 'json:ref': 'refs/heads/other' },
    ],
  },
  {
    name: 'an event of a release before 14.8, which has no id at all',
    credential: 'secret',
    headers: { 'x-gitlab-event': 'System Hook' },
    body: { event_name: 'repository_update', user_id: 1, project_id: 1 },
    repeated:
      'A release before 14.8 sends no id, and two pushes of one branch can have the same bytes. So every delivery is a new event.',
    another: {},
  },
]
