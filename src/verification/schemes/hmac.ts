/** The most common scheme. It is synchronous, because it is a hot path. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Chunk } from '../delivery/template.js'
import { type SecretScheme, secretScheme } from '../scheme.js'
import { type Digest, digestBytes, type HmacAlgorithm, hmacDigest } from './keyed-digest.js'
import { exampleSecret, type SecretRule, type Secrets, secretKeys } from './secret.js'
import { decodeExact } from './signature.js'
import { type SignedRule, SignedScheme } from './signed.js'

export interface HmacRule extends SignedRule {
  /** Default `sha256`. Fixed by the rule; a header cannot change it. */
  readonly algorithm?: HmacAlgorithm
  /** Default: the key is the UTF-8 bytes of the secret. */
  readonly secret?: SecretRule
  /**
   * Default `hmac`. `prefix`: a plain digest of the secret followed by the content (HubSpot v1). From such a digest anyone
   * can compute that of a longer content, so content with the padding of a digest in it is rejected.
   */
  readonly construction?: 'hmac' | 'prefix'
}

export function hmacScheme(rule: HmacRule): SecretScheme<Secrets> {
  const { algorithm = 'sha256', encoding, secret = {}, construction = 'hmac' } = rule
  const length = digestBytes[algorithm]

  function digestWith(key: Buffer): Digest {
    if (construction === 'hmac') return hmacDigest(algorithm, key)
    return (content) => {
      const hash = createHash(algorithm).update(key)
      for (const chunk of content) hash.update(chunk)
      return hash.digest()
    }
  }

  return secretScheme(
    (context) => {
      const keys = secretKeys(context, secret)
      const digests = keys.map(digestWith)
      return new SignedScheme('hmac', rule, context, {
        keyCount: keys.length,
        match(content, signatures) {
          if (construction === 'prefix' && hasZeroByte(content)) return 'bad_signature'
          // Only a signature of the digest's length is compared: timingSafeEqual throws on another length.
          const decoded: Buffer[] = []
          for (const text of signatures) {
            const bytes = decodeExact(text, encoding, length)
            if (bytes !== null) decoded.push(bytes)
          }
          if (decoded.length === 0) return 'malformed_signature'
          for (let index = 0; index < digests.length; index += 1) {
            const expected = digests[index]!(content)
            for (const bytes of decoded) if (timingSafeEqual(bytes, expected)) return index
          }
          return 'bad_signature'
        },
        write: (content) => digests[0]!(content).toString(encoding),
        mac: (name, text) => createHmac(name, keys[0]!).update(text).digest(),
      })
    },
    () => exampleSecret(secret, randomBytes(32)),
  )
}

/** The padding of every digest has zero bytes: the high bytes of its length. No JSON text has one. */
function hasZeroByte(content: readonly Chunk[]): boolean {
  return content.some((chunk) => (typeof chunk === 'string' ? chunk.includes('\0') : chunk.includes(0)))
}
