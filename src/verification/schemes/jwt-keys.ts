/** The keys of the JWT scheme: configured, fetched as a key set (JWKS), or looked up by the user's function. */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { CryptoKey, JWTHeaderParameters } from 'jose'
import { HookonceError } from '../../errors.js'
import type { RejectReason } from '../../provider.js'
import type { SchemeContext } from '../scheme.js'
import type { JwtRule } from './jwt.js'
import { KeyCache } from './key-cache.js'
import { checkedKey, readPublicKey } from './key-formats.js'
import { KeySet } from './key-set.js'
import { credentialTexts, secretKeys } from './secret.js'

export type JwtKey = KeyObject | Uint8Array | CryptoKey
export type GetKey = (kid: string) => object | null | undefined | Promise<object | null | undefined>
type Keys = readonly { readonly key: JwtKey; readonly index: number }[]

export interface KeySource {
  readonly count: number
  /** The first shared secret, which signs. */
  readonly secret?: Uint8Array
  /** Returns every key that may have signed a token with this header. */
  find(header: JWTHeaderParameters): Keys | RejectReason | Promise<Keys | RejectReason>
}

export function keySource(rule: JwtRule, shared: boolean, context: SchemeContext): KeySource {
  if (shared) {
    const secrets = secretKeys(context, {})
    return {
      ...configured(secrets.map((key, index) => ({ key, kid: undefined, index }))),
      secret: secrets[0]!,
    }
  }
  if (context.options[context.credential] !== undefined) return configured(configuredKeys(rule, context))
  if (rule.getKey && typeof context.options.getKey === 'function') {
    return lookedUp(context.options.getKey as GetKey)
  }
  if (rule.jwksUrl !== undefined) return keySet(context.compiler.fill(rule.jwksUrl), context)
  throw new HookonceError('SECRET_MISSING', { provider: context.provider, option: context.credential })
}

type Configured = readonly { key: JwtKey; kid: string | undefined; index: number }[]

function configured(keys: Configured): KeySource {
  return {
    count: keys.length === 0 ? 1 : Math.max(...keys.map(({ index }) => index)) + 1,
    find({ kid = '' }) {
      const fitting = keys.filter((key) => key.kid === undefined || kid === '' || key.kid === kid)
      return fitting.length === 0 ? 'unknown_key' : fitting
    },
  }
}

/** Each text is PEM, a certificate, a JWK or a key set (JWKS) as JSON. */
function configuredKeys(rule: JwtRule, context: SchemeContext): Configured {
  const type = rule.algorithms[0] === 'ES256' ? 'p256' : 'rsa'
  return credentialTexts(context).flatMap((text, index) => {
    const jwks = text.trimStart().startsWith('{') ? readJwks(text) : null
    const keys =
      jwks === null
        ? [{ key: readPublicKey(text, type), kid: undefined, index }]
        : jwks.map((jwk) => ({ key: readJwk(jwk), kid: jwk.kid as string | undefined, index }))
    const forms = 'PEM, certificate, JWK or JWKS'
    return keys.map(({ key, ...rest }) => ({ key: checkedKey(context, key, type, forms), ...rest }))
  })
}

function readJwks(text: string): readonly (JsonWebKey & { kid?: string })[] | null {
  try {
    const parsed = JSON.parse(text) as { keys?: unknown }
    return Array.isArray(parsed.keys) ? parsed.keys : [parsed]
  } catch {
    return null
  }
}

function readJwk(jwk: object): KeyObject | null {
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
  } catch {
    return null
  }
}

/** A key that the sender marks as expired (Plaid's `expired_at`) is unknown; a look-up that throws is an outage. */
function lookedUp(getKey: GetKey): KeySource {
  const cache = new KeyCache(async (kid) => {
    try {
      const jwk: unknown = await getKey(kid)
      if (typeof jwk !== 'object' || jwk === null) return 'unknown_key'
      if (typeof (jwk as { expired_at?: unknown }).expired_at === 'number') return 'unknown_key'
      return readJwk(jwk) ?? 'key_unavailable'
    } catch {
      return 'key_unavailable'
    }
  })
  return oneKey(({ kid = '' }) => (kid === '' || kid.length > 200 ? 'unknown_key' : cache.find(kid)))
}

function keySet(url: string, context: SchemeContext): KeySource {
  const set = new KeySet(url, (context.options.fetch as typeof fetch | undefined) ?? fetch)
  return oneKey((header) => set.find(header))
}

type FoundKey = JwtKey | RejectReason

function oneKey(find: (header: JWTHeaderParameters) => FoundKey | Promise<FoundKey>): KeySource {
  return {
    count: 1,
    async find(header) {
      const key = await find(header)
      return typeof key === 'string' ? key : [{ key, index: 0 }]
    },
  }
}
