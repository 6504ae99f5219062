/** A keyed digest of the received bytes: the most common scheme, and synchronous because it is a hot path. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Chunk } from '../delivery/template.js'
import type { SecretScheme } from '../scheme.js'
import { exampleSecret, type SecretRule, type Secrets, secretKeys } from './secret.js'
import { decodeExact } from './signature.js'
import { type SignedRule, signedScheme } from './signed.js'

export type HmacAlgorithm = 'md5' | 'sha1' | 'sha256' | 'sha384' | 'sha512'

export interface HmacRule extends SignedRule {
  /** Default `sha256`. Fixed by the rule; a header cannot change it. */
  readonly algorithm?: HmacAlgorithm
  /** How the secret is decoded to a key. Default: its UTF-8 bytes. */
  readonly secret?: SecretRule
  /** `prefix`: a plain digest of the secret followed by the content (HubSpot v1). Default `hmac`. */
  readonly construction?: 'hmac' | 'prefix'
}

const digestBytes: Readonly<Record<HmacAlgorithm, number>> = {
  md5: 16,
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
}

export function hmacScheme(rule: HmacRule): SecretScheme<Secrets> {
  const { algorithm = 'sha256', encoding, secret = {}, construction = 'hmac' } = rule
  const length = digestBytes[algorithm]

  function digest(key: Buffer, content: readonly Chunk[]): Buffer {
    const hash = construction === 'hmac' ? createHmac(algorithm, key) : createHash(algorithm).update(key)
    for (const chunk of content) hash.update(chunk)
    return hash.digest()
  }

  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create(context) {
      const keys = secretKeys(context, secret)
      const scheme = signedScheme('hmac', rule, context, {
        keyCount: keys.length,
        match(content, signatures) {
          // Only a signature of the digest's length is compared: timingSafeEqual throws on another length.
          const decoded: Buffer[] = []
          for (const text of signatures) {
            const bytes = decodeExact(text, encoding, length)
            if (bytes !== null) decoded.push(bytes)
          }
          if (decoded.length === 0) return 'malformed_signature'
          for (let index = 0; index < keys.length; index += 1) {
            const expected = digest(keys[index]!, content)
            for (const bytes of decoded) if (timingSafeEqual(bytes, expected)) return index
          }
          return 'bad_signature'
        },
        write: (content) => digest(keys[0]!, content).toString(encoding),
      })
      return { ...scheme, mac: (name, text) => createHmac(name, keys[0]!).update(text).digest() }
    },
    example: () => ({ credential: exampleSecret(secret, randomBytes(32)), extra: {} }),
  }
}
