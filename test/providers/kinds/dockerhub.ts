import type { Kinds } from 'hookonce/testing/contracts'

export const dockerhub: Kinds = [
  {
    name: 'a push',
    body: {
      callback_url:
        'https://registry.hub.docker.com/u/svendowideit/testhook/hook/2141b5bi5i5b02bec211i4eeih0242eg11000a/',
      push_data: { pushed_at: 1417566161, pusher: 'trustedbuilder', tag: 'latest' },
      repository: { repo_name: 'svendowideit/testhook' },
    },
    events: ['push'],
    another: [{ 'json:push_data.pushed_at': 1417566162 }, { 'json:push_data.tag': 'next' }],
  },
]
