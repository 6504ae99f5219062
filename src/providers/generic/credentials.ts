/**
 * Sources for senders that identify themselves and sign nothing: `token(...)`, `basic(...)`, `mtls(...)`; and
 * `unverified(...)` for deliveries without proof.
 */
import { invalid } from '../../errors.js'
import type { Source } from '../../provider.js'
import { namedOptions } from '../../verification/define/options.js'
import {
  basicScheme,
  defineProvider,
  type FieldText,
  tokenScheme,
} from '../../verification/define-provider.js'
import type { Secrets } from '../../verification/schemes/secret.js'
import { clientCertificateScheme, noScheme } from '../../verification/schemes/token.js'
import { given, type IdentityOptions, identityNames, identityRules, sourceOptions } from './identity.js'

export interface TokenOptions extends IdentityOptions {
  /** The token, at least 8 bytes. Several while it is being changed. */
  readonly secret: Secrets
  /** The place of the token, such as `header:x-api-key` or `query:token`. Default `header:authorization`. */
  readonly in?: FieldText
  /** Precedes the token. Default `Bearer ` in the header `authorization`, nothing elsewhere. */
  readonly prefix?: string
}

/** Any sender that puts the same token in every delivery: a bearer token, an API key, a token in the URL. */
export function token(options: TokenOptions = {} as never): Source {
  namedOptions('token', options, ['secret'], [...identityNames, 'in', 'prefix'])
  const place = tokenPlace('token', options)
  return defineProvider({ ...identityRules('token', options), verify: tokenScheme(place) })({
    secret: options.secret,
    ...sourceOptions(options),
  })
}

/** The place and prefix of a token. @internal */
export function tokenPlace(key: string, options: { readonly in?: FieldText; readonly prefix?: string }) {
  const place = options.in ?? 'header:authorization'
  if (typeof place !== 'string' || !/^(header|query|form|json):./.test(place)) {
    throw invalid(
      `${key}()`,
      'needs `in` to be the place of the token, such as "header:x-api-key" or "query:token"',
    )
  }
  const isBearer = place.toLowerCase() === 'header:authorization'
  return { in: place, prefix: options.prefix ?? (isBearer ? 'Bearer ' : '') }
}

export interface BasicOptions extends IdentityOptions {
  /** `user:password`, the password at least 8 bytes. Several while it is being changed. */
  readonly secret: Secrets
}

/** Any sender with HTTP Basic authentication, or with `https://user:password@host/` as its URL. */
export function basic(options: BasicOptions = {} as never): Source {
  namedOptions('basic', options, ['secret'], identityNames)
  return defineProvider({ ...identityRules('basic', options), verify: basicScheme() })({
    secret: options.secret,
    ...sourceOptions(options),
  })
}

export interface MtlsOptions extends IdentityOptions {
  /** The header in which the proxy names the verified client certificate. */
  readonly header: string
  /** The accepted certificates by SHA-256 or SHA-1 fingerprint, in hex. Either this or `subject`. */
  readonly fingerprint?: Secrets
  /** The accepted certificates by subject, exactly as the proxy writes it. */
  readonly subject?: Secrets
  /**
   * Confirms that the proxy overwrites or removes this header in every request from outside, and that nobody reaches
   * this process past the proxy. Otherwise anyone who sends the header is the sender.
   */
  readonly proxyRemovesHeader: true
}

/** Any sender with a client certificate that a trusted proxy verifies. */
export function mtls(options: MtlsOptions = {} as never): Source {
  const names = [...identityNames, 'header', 'proxyRemovesHeader']
  namedOptions('mtls', options, ['fingerprint', 'subject'], names)
  if (typeof options.header !== 'string' || !/^[\w-]+$/.test(options.header))
    throw invalid('mtls()', 'needs `header`: the name of the header in which the proxy names the certificate')
  if (options.proxyRemovesHeader !== true) {
    throw invalid(
      'mtls()',
      `needs \`proxyRemovesHeader: true\`: set it after the proxy overwrites or removes "${options.header}" in every ` +
        'request from outside; otherwise anyone who sends the header is accepted',
    )
  }
  const place = `header:${options.header.toLowerCase()}` as const
  const { fingerprint, subject } = options
  return defineProvider({
    ...identityRules('mtls', options),
    verify: {
      fingerprint: clientCertificateScheme(place, 'fingerprint'),
      subject: clientCertificateScheme(place, 'subject'),
    },
  })({ ...given({ fingerprint, subject }), ...sourceOptions(options) })
}

/** No check at all: anyone who knows the URL can create events. Start-up warns about it. */
export function unverified(options: IdentityOptions = {} as never): Source {
  namedOptions('unverified', options, [], identityNames)
  return defineProvider({ ...identityRules('unverified', options), verify: noScheme() })(
    sourceOptions(options),
  )
}
