import { defineProvider, hmacScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const npmHooks = defineProvider({
  key: 'npmHooks',
  name: 'npm registry hooks',
  docs: 'https://docs.npmjs.com/cli/hook',
  confidence: 'verified',
  verify: hmacScheme({ signature: { in: 'header:x-npm-signature', prefix: 'sha256=' }, encoding: 'hex' }),
  // There is no id; the body has the time in milliseconds. unchecked: that a retry has the same time.
  events: { id: 'hash', type: 'json:event', reference: 'json:name' },
  retryWindowMs: null,
  samples: sampleFile('npm-hooks'),
})
