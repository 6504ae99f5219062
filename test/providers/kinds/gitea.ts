import type { Kinds } from 'hookonce/testing/contracts'

const push = {
  ref: 'refs/heads/develop',
  before: '28e1879d029cb852e4844d9c718537df08844e03',
  after: 'bffeb74224043ba2feb48d137756c8a9331c449a',
  repository: { id: 140, full_name: 'gitea/webhooks' },
}

export const gitea: Kinds = [
  {
    name: 'a push as JSON',
    headers: { 'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473', 'x-gitea-event': 'push' },
    body: push,
    events: ['push'],
    // The branch was reset and pushed again.
    another: { 'header:x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead474' },
  },
  {
    name: 'a push as a form',
    format: 'form',
    headers: { 'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473', 'x-gitea-event': 'push' },
    body: { payload: push },
    events: ['push'],
    another: { 'header:x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead474' },
  },
]
