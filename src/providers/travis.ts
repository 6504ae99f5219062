import { composite, defineProvider, join, optional, rsaScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const travis = defineProvider({
  key: 'travis',
  name: 'Travis CI',
  docs: 'https://docs.travis-ci.com/user/notifications/#configuring-webhook-notifications',
  confidence: 'verified',
  // The key is config.notifications.webhook.public_key of https://api.travis-ci.com/config. It signs with SHA-1.
  verify: rsaScheme({
    signature: 'header:signature',
    encoding: 'base64',
    digest: 'sha1',
    // The signed content is the decoded form field, not the body.
    signed: '{document}',
  }),
  sharedKey: { namedBy: 'repository', in: join('/', 'json:repository.owner_name', 'json:repository.name') },
  options: {
    repository: {
      what: 'The repository as owner/name, or a list of them; builds of other repositories are rejected',
      required: true,
      list: true,
      example: 'travis-ci/docs',
    },
  },
  format: 'form',
  document: { form: 'payload' },
  events: {
    // The start, the end and a second run of a build have the same id.
    id: composite(
      'json:id',
      ['json:state', 'json:status_message'],
      optional('json:started_at'),
      optional('json:finished_at'),
    ),
    type: 'json:type',
    reference: 'json:repository.id',
  },
  retryWindowMs: null,
  keepHeaders: ['travis-repo-slug'],
  sampleId: 'number',
  sampleHeaders: { 'travis-repo-slug': 'travis-ci/docs' },
  samples: sampleFile('travis'),
})
