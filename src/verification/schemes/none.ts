/** No check at all. Only `unverified(...)` uses it, so that nobody gets here by leaving something out. */
import type { SchemeDefinition } from '../scheme.js'

export function noScheme(): SchemeDefinition<never> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: false,
    create: () => ({
      facts: {
        kind: 'none',
        credential: '',
        signatureIn: [],
        each: null,
        encoding: null,
        separator: null,
        covers: { body: 'none', url: false, fields: [] },
        timestamp: null,
      },
      keyCount: 0,
      verify: () => ({ ok: true, secretIndex: 0 }),
      sign: () => {},
    }),
    example: () => ({ credential: undefined as never, extra: {} }),
  }
}
