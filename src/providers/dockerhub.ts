import { composite, defineProvider, tokenScheme } from '../verification/define-provider.js'

export const dockerhub = defineProvider({
  key: 'dockerhub',
  name: 'Docker Hub',
  docs: 'https://docs.docker.com/docker-hub/repos/manage/webhooks/',
  confidence: 'verified',
  // It signs nothing and has no secret: register the URL with `?token=<secret>`.
  verify: tokenScheme({ in: 'query:token' }),
  events: {
    id: composite('json:repository.repo_name', 'json:push_data.tag', 'json:push_data.pushed_at'),
    type: 'const:push',
    reference: 'json:repository.repo_name',
  },
  retryWindowMs: null,
  samples: {
    push: {
      callback_url:
        'https://registry.hub.docker.com/u/svendowideit/testhook/hook/2141b5bi5i5b02bec211i4eeih0242eg11000a/',
      push_data: { pushed_at: '{now:s}', pusher: 'trustedbuilder', tag: '{id}', images: [] },
      repository: {
        name: 'testhook',
        namespace: 'svendowideit',
        owner: 'svendowideit',
        repo_name: 'svendowideit/testhook',
        repo_url: 'https://registry.hub.docker.com/u/svendowideit/testhook/',
        status: 'Active',
      },
    },
  },
})
