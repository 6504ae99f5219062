/** `hmac(...)`: a source for any sender that signs with a shared secret. */

import { invalid } from '../../errors.js'
import type { Source } from '../../provider.js'
import { namedOptions } from '../../verification/define/options.js'
import { defineProvider, hmacScheme } from '../../verification/define-provider.js'
import type { HmacAlgorithm } from '../../verification/schemes/keyed-digest.js'
import type { SecretRule, Secrets } from '../../verification/schemes/secret.js'
import type { TimestampRule } from '../../verification/schemes/timestamp.js'
import { given, type IdentityOptions, identityNames, identityRules, sourceOptions } from './identity.js'

export interface HmacOptions extends IdentityOptions {
  readonly secret: Secrets
  /** The header with the signature. */
  readonly header: string
  /** Default `sha256`. */
  readonly algorithm?: HmacAlgorithm
  /** Default `hex`. */
  readonly encoding?: 'hex' | 'base64' | 'base64url'
  /** Precedes the signature: `sha256=`. */
  readonly prefix?: string
  /** Separates several signatures in the header. */
  readonly separator?: string
  /** The names in `t=...,v1=...`. */
  readonly pairs?: { readonly signature: string; readonly timestamp?: string }
  /** The signed content. Default `{body}`, with a timestamp `{timestamp}.{body}`. */
  readonly signed?: string
  readonly timestamp?: TimestampRule
  /** The decoding of the secret to a key. Default: its UTF-8 bytes. */
  readonly secretForm?: SecretRule
  readonly publicUrl?: string
}

const hmacNames = [
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'separator',
  'pairs',
  'signed',
  'timestamp',
  'secretForm',
  'publicUrl',
]

/** Any sender that signs with a shared secret. */
export function hmac(options: HmacOptions = {} as never): Source {
  namedOptions('hmac', options, ['secret'], [...identityNames, ...hmacNames])
  if (typeof options.header !== 'string' || options.header === '')
    throw invalid('hmac()', 'needs `header`: the name of the header with the signature')
  const { timestamp, prefix, separator, pairs } = options
  const factory = defineProvider({
    ...identityRules('hmac', options),
    verify: hmacScheme({
      algorithm: options.algorithm ?? 'sha256',
      encoding: options.encoding ?? 'hex',
      signature: {
        in: `header:${options.header}`,
        ...given({ prefix, separator, pairs }),
      },
      signed: options.signed ?? (timestamp === undefined ? '{body}' : '{timestamp}.{body}'),
      ...given({ timestamp }),
      secret: options.secretForm ?? {},
    }),
  })
  const { secret, publicUrl } = options
  return factory({ secret, ...given({ publicUrl }), ...sourceOptions(options) })
}
