import { composite, defineProvider, join, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const dockerhub = defineProvider({
  key: 'dockerhub',
  name: 'Docker Hub',
  docs: 'https://docs.docker.com/docker-hub/repos/manage/webhooks/',
  confidence: 'verified',
  // Nothing is signed and there is no secret: register the URL with `?token=<secret>`.
  verify: tokenScheme({ in: 'query:token' }),
  events: {
    id: composite('json:repository.repo_name', 'json:push_data.tag', 'json:push_data.pushed_at'),
    type: 'const:push',
    reference: [join(':', 'json:repository.repo_name', 'json:push_data.tag'), 'json:repository.repo_name'],
  },
  retryWindowMs: null,
  samples: sampleFile('dockerhub'),
})
