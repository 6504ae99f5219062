/** `hmac(...)`: a source for any sender that signs with a shared secret. */

import { invalid } from '../../errors.js'
import { checkOptions, choice, shape } from '../../options.js'
import type { Source } from '../../provider.js'
import { namedOptions } from '../../verification/define/options.js'
import { defineProvider, hmacScheme } from '../../verification/define-provider.js'
import { digestBytes, type HmacAlgorithm } from '../../verification/schemes/keyed-digest.js'
import type { SecretRule, Secrets } from '../../verification/schemes/secret.js'
import type { TimestampRule } from '../../verification/schemes/timestamp.js'
import { given, type IdentityOptions, identityNames, identityRules, sourceOptions } from './identity.js'

export interface HmacOptions extends IdentityOptions {
  /** The shared secret, a list for rotation, or a function that returns either. */
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
  /** Where the signed time is, if there is one. It is compared with the clock. */
  readonly timestamp?: TimestampRule
  /** The decoding of the secret to a key. Default: its UTF-8 bytes. */
  readonly secretForm?: SecretRule
  /** The URL that the sender calls, if it signs the URL. */
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

const digestRule = shape({
  algorithm: choice(...Object.keys(digestBytes)),
  encoding: choice('hex', 'base64', 'base64url'),
})

/** Any sender that signs with a shared secret. */
export function hmac(options: HmacOptions = {} as never): Source {
  namedOptions('hmac', options, ['secret'], [...identityNames, ...hmacNames])
  if (typeof options.header !== 'string' || options.header === '')
    throw invalid('hmac()', 'needs `header`: the name of the header with the signature')
  const { timestamp, prefix, separator, pairs } = options
  checkOptions('hmac()', given({ algorithm: options.algorithm, encoding: options.encoding }), digestRule)
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
  const source = factory({ secret, ...given({ publicUrl }), ...sourceOptions(options) })
  const { body, fields } = source.scheme.covers
  if (body === 'none' && !fields.some((field) => /^(json|form|xml):/.test(field)))
    throw invalid(
      'hmac()',
      'needs `signed` to cover the body, for example "{timestamp}.{body}"; otherwise anyone who has seen one delivery can send other content with its signature. If the sender signs nothing of the body, use token(...)',
    )
  return source
}
