import { defineProvider, hmacScheme, join, optional } from '../verification/define-provider.js'

export const launchdarkly = defineProvider({
  key: 'launchdarkly',
  name: 'LaunchDarkly',
  docs: 'https://launchdarkly.com/docs/home/infrastructure/webhooks',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-ld-signature', encoding: 'hex' }),
  // An entry of the audit log. titleVerb is a sentence for people; kind and the first action are what code can match.
  events: {
    id: 'json:_id',
    type: join('.', 'json:kind', optional('json:accesses[].action')),
    reference: 'json:target.resources[]',
  },
  retryWindowMs: null,
  samples: {
    'flag.updateOn': {
      _id: '{id}',
      _accountId: '5a1b2c3d4e5f6a7b8c9d0e1f',
      date: '{now:ms}',
      kind: 'flag',
      name: 'Example flag',
      description: '',
      titleVerb: 'turned on the flag',
      accesses: [{ action: 'updateOn', resource: 'proj/default:env/production:flag/example-flag' }],
      target: { name: 'Example flag', resources: ['proj/default:env/production:flag/example-flag'] },
      member: { email: 'jane@example.com', firstName: 'Jane' },
    },
    'environment.createEnvironment': {
      _id: '{id}',
      _accountId: '5a1b2c3d4e5f6a7b8c9d0e1f',
      date: '{now:ms}',
      kind: 'environment',
      name: 'Staging',
      titleVerb: 'created the environment',
      accesses: [{ action: 'createEnvironment', resource: 'proj/default:env/staging' }],
      target: { name: 'Staging', resources: ['proj/default:env/staging'] },
    },
  },
})
