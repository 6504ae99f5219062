/** `jwt(...)`: a source for any sender that sends a signed token (JWT) with each delivery. */
import { invalid } from '../../errors.js'
import type { Source } from '../../provider.js'
import { namedOptions } from '../../verification/define/options.js'
import { defineProvider, type FieldText, jwtScheme } from '../../verification/define-provider.js'
import type { JwtAlgorithm, JwtExtra } from '../../verification/schemes/jwt.js'
import type { Secrets } from '../../verification/schemes/secret.js'
import { tokenPlace } from './credentials.js'
import { given, type IdentityOptions, identityNames, identityRules, sourceOptions } from './identity.js'

export interface JwtOptions extends IdentityOptions, JwtExtra {
  /** The shared secret of HS256, HS384 or HS512. */
  readonly secret?: Secrets
  /** The sender's public key: PEM, certificate, JWK or key set (JWKS) as text. */
  readonly publicKey?: Secrets
  /** The address of the sender's key set; keys are fetched and cached. Needs `audience` or `claims`. */
  readonly jwksUrl?: string
  /** Default `HS256` with `secret`, `RS256` otherwise. The token cannot choose. */
  readonly algorithm?: JwtAlgorithm
  /** The place of the token. Default `header:authorization`. */
  readonly in?: FieldText
  /** Precedes the token. Default `Bearer ` in the header `authorization`, nothing elsewhere. */
  readonly prefix?: string
  /** The claim `iss` must be this text. */
  readonly issuer?: string
  /** The claim `aud` must be this text, or have it in its list. */
  readonly audience?: string
  /** Other claims that must have exactly this text, such as `{ email: 'sender@example.com' }`. */
  readonly claims?: Readonly<Record<string, string>>
  /** The claim that holds the SHA-256 of the body in hex. Without it the body is not signed. */
  readonly bodyHash?: string
  /** The claims that must exist. Default `exp`: a token without an end stays valid if it is captured. */
  readonly required?: readonly string[]
}

const keyNames = ['secret', 'publicKey', 'jwksUrl', 'getKey'] as const
const jwtNames = [
  'privateKey',
  'fetch',
  'algorithm',
  'in',
  'prefix',
  'issuer',
  'audience',
  'claims',
  'bodyHash',
  'required',
]
const algorithms: readonly JwtAlgorithm[] = ['HS256', 'HS384', 'HS512', 'RS256', 'ES256']

/** Any sender that proves itself with a JWT. */
export function jwt(options: JwtOptions = {} as never): Source {
  namedOptions('jwt', options, keyNames, [...identityNames, ...jwtNames])
  const algorithm = options.algorithm ?? (options.secret === undefined ? 'RS256' : 'HS256')
  checkKeys(options, algorithm)
  const { issuer, audience, bodyHash, jwksUrl } = options
  const verify = jwtScheme({
    ...tokenPlace('jwt', options),
    algorithms: [algorithm],
    claims: { ...options.claims, ...given({ iss: issuer, aud: audience }) },
    required: options.required ?? ['exp'],
    ...(options.tolerance === undefined ? {} : { issuedAt: {} }),
    ...(bodyHash === undefined ? {} : { bodyHash: { claim: bodyHash } }),
    ...given({ jwksUrl }),
    ...(options.getKey === undefined ? {} : { getKey: true as const }),
  })
  const { secret, publicKey, privateKey, getKey, fetch } = options
  const factory = defineProvider({ ...identityRules('jwt', options), verify }) as (options: object) => Source
  return factory({
    ...given({ secret, publicKey, privateKey, getKey, fetch: jwksUrl === undefined ? undefined : fetch }),
    ...sourceOptions(options),
  })
}

function checkKeys(options: JwtOptions, algorithm: JwtAlgorithm): void {
  const given = keyNames.filter((name) => options[name] !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? '' : ` and not ${given.join(' and ')}`
    throw invalid('jwt()', `needs one of secret, publicKey, jwksUrl or getKey${found}`)
  }
  if (!algorithms.includes(algorithm))
    throw invalid('jwt()', `needs \`algorithm\` to be one of ${algorithms.join(', ')}`)
  if (algorithm.startsWith('HS') !== (given[0] === 'secret')) {
    throw invalid(
      'jwt()',
      `cannot use \`${given[0]}\` with ${algorithm}: HS algorithms need \`secret\`, others a public key`,
    )
  }
  for (const [name, text] of Object.entries({
    iss: options.issuer,
    aud: options.audience,
    ...options.claims,
  })) {
    if (text === undefined || (typeof text === 'string' && text !== '')) continue
    throw invalid('jwt()', `needs a text that is not empty for the claim "${name}"`)
  }
  if (options.jwksUrl === undefined) return
  if (!isKeySetUrl(options.jwksUrl))
    throw invalid(
      'jwt()',
      'needs `jwksUrl` to be an https URL: whoever answers it decides which tokens are accepted',
    )
  // The keys of a large issuer sign tokens for all of its customers.
  if (options.audience === undefined && Object.keys(options.claims ?? {}).length === 0) {
    throw invalid(
      'jwt()',
      'needs `audience` or `claims` with `jwksUrl`: the issuer signs tokens for other receivers with the same keys',
    )
  }
}

/** Unencrypted addresses only on this machine, for tests. */
function isKeySetUrl(text: unknown): boolean {
  if (typeof text !== 'string' || !URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return (
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
  )
}
