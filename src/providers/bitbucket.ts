import { defineProvider, hmacScheme } from '../verification/define-provider.js'

export const bitbucket = defineProvider({
  key: 'bitbucket',
  name: 'Bitbucket Cloud',
  docs: 'https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/',
  confidence: 'verified',
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  events: {
    // The same on every attempt. x-hook-uuid names the webhook.
    id: 'header:x-request-uuid',
    type: 'header:x-event-key',
    reference: ['json:pullrequest.id', 'json:issue.id', 'json:repository.uuid'],
  },
  // Two more attempts, without saying when.
  retryWindowMs: null,
  keepHeaders: ['x-event-key', 'x-hook-uuid', 'x-request-uuid', 'x-attempt-number'],
  sampleHeaders: { 'x-hook-uuid': '2ea0ab15-e6bd-4b8f-a5a9-2b4b5b2b3b5e', 'x-attempt-number': '1' },
  samples: {
    'repo:push': {
      actor: { display_name: 'Emma', uuid: '{d301aafa-d676-4ee0-88be-962be7417567}' },
      repository: { full_name: 'team_name/repo_name', uuid: '{673a6070-3421-46c9-9d48-90745f7bfe8e}' },
      push: {
        changes: [
          {
            new: {
              type: 'branch',
              name: 'main',
              target: { hash: '709d658dc5b6d6afcd46049c2f332ee3f515a67d' },
            },
            commits: [{ hash: '709d658dc5b6d6afcd46049c2f332ee3f515a67d', message: 'Say hello {id}' }],
          },
        ],
      },
    },
    'pullrequest:created': {
      actor: { display_name: 'Emma', uuid: '{d301aafa-d676-4ee0-88be-962be7417567}' },
      pullrequest: { id: 1, title: 'Title {id}', state: 'OPEN', created_on: '{now:iso}' },
      repository: { full_name: 'team_name/repo_name', uuid: '{673a6070-3421-46c9-9d48-90745f7bfe8e}' },
    },
  },
})
