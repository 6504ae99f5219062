/**
 * Signatures made with the sender's private key: Ed25519, ECDSA and RSA. The public keys are configured, or, where
 * the sender publishes certificates, fetched from its fixed host.
 */
import { type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { RejectReason, SchemeFacts } from '../../provider.js'
import type { Evaluate } from '../delivery/compile.js'
import type { Field } from '../delivery/field.js'
import { Reading } from '../delivery/reading.js'
import type { Chunk } from '../delivery/template.js'
import type { KeyScheme, SchemeContext } from '../scheme.js'
import { type CertificateRule, certificateKeys } from './certificate.js'
import { decodeExact } from './encoding.js'
import { generateKeys, type KeyType, privateKey, publicKeys } from './keys.js'
import type { Secrets } from './secret.js'
import { type SignedRule, signedScheme } from './signed.js'

export interface PublicKeyRule extends SignedRule {
  /** The public key is in a certificate the delivery points to; `publicKey` may then be left out. */
  readonly certificate?: CertificateRule
}

export interface PublicKeyExtra {
  /** Only to sign synthetic deliveries. */
  readonly privateKey?: string
  /** Only where certificates are fetched. */
  readonly fetch?: typeof fetch
}

/** `digest` null: the algorithm brings its own (Ed25519). A function: the delivery names it (SNS), from a fixed set. */
export interface PublicKeyAlgorithm {
  readonly kind: SchemeFacts['kind']
  readonly keyType: KeyType
  readonly digest: Digest | DigestChoice
  /** ECDSA signatures are DER, or the two numbers side by side. */
  readonly dsaEncoding?: 'der' | 'ieee-p1363'
}

/** Where the delivery says which of a fixed few it is; undefined refuses. */
export type DigestChoice = (field: (field: Field) => Evaluate) => (reading: Reading) => Digest | undefined

export type Digest = 'sha1' | 'sha256' | 'sha512' | null

export function publicKeyScheme<const R extends PublicKeyRule>(
  algorithm: PublicKeyAlgorithm,
  rule: R,
): KeyScheme<Secrets, PublicKeyExtra, R extends { certificate: CertificateRule } ? false : true> {
  const credentialNeeded = rule.certificate === undefined
  return {
    credential: 'publicKey',
    extraOptions: rule.certificate === undefined ? ['privateKey'] : ['privateKey', 'fetch'],
    credentialNeeded: credentialNeeded as never,
    create: (context) => createScheme(algorithm, rule, context),
    example() {
      const pair = generateKeys(algorithm.keyType)
      return { credential: pair.publicKey, extra: { privateKey: pair.privateKey } }
    },
  }
}

function createScheme(algorithm: PublicKeyAlgorithm, rule: PublicKeyRule, context: SchemeContext) {
  const { digest, keyType, dsaEncoding = 'der' } = algorithm
  const fetched = rule.certificate !== undefined && context.options[context.credential] === undefined
  const configured = fetched ? [] : publicKeys(context, keyType)
  const certificates = fetched ? certificateKeys(rule.certificate!, keyType, context) : null
  const signingKey = privateKey(context)
  const digestOf =
    typeof digest === 'function' ? digest((field) => context.compiler.field(field)) : () => digest

  function matchKeys(
    keys: readonly KeyObject[],
    content: readonly Chunk[],
    signatures: readonly string[],
    reading: Reading,
  ): number | RejectReason {
    const name = digestOf(reading)
    if (name === undefined) return 'missing_field'
    const given = signatures.map((text) => decodeExact(text, rule.encoding)).filter((bytes) => bytes !== null)
    if (given.length === 0) return 'malformed_signature'
    const bytes = concat(content)
    for (let index = 0; index < keys.length; index += 1) {
      for (const signature of given) {
        if (verifies(name, bytes, keys[index]!, dsaEncoding, signature)) return index
      }
    }
    return 'bad_signature'
  }

  return signedScheme(algorithm.kind, rule, context, {
    keyCount: Math.max(configured.length, 1),
    match(content, signatures, reading) {
      if (certificates === null) return matchKeys(configured, content, signatures, reading)
      const key = certificates.find(reading)
      if (typeof key === 'string') return key
      if (!(key instanceof Promise)) return matchKeys([key], content, signatures, reading)
      return key.then((found) =>
        typeof found === 'string' ? found : matchKeys([found], content, signatures, reading),
      )
    },
    write(content, draft) {
      if (signingKey === null) {
        const problem = 'it has no privateKey'
        throw new HookonceError('SIGNING_UNAVAILABLE', { provider: context.provider, problem })
      }
      const name = digestOf(new Reading(draft, context.document)) ?? null
      return signBytes(name, concat(content), { key: signingKey, dsaEncoding }).toString(rule.encoding)
    },
  })
}

/** Node throws on some malformed signatures and keys; to a verifier that is only "no". */
function verifies(
  digest: Digest,
  content: Buffer,
  key: KeyObject,
  dsaEncoding: 'der' | 'ieee-p1363',
  signature: Buffer,
): boolean {
  try {
    return verifyBytes(digest, content, { key, dsaEncoding }, signature)
  } catch {
    return false
  }
}

function concat(content: readonly Chunk[]): Buffer {
  return Buffer.concat(
    content.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk)),
  )
}
