/**
 * Signatures made with the sender's private key: Ed25519, ECDSA and RSA. The public keys are configured, or fetched
 * from the sender's fixed host when it publishes certificates.
 */
import { type KeyObject, sign as signBytes, verify as verifyBytes } from 'node:crypto'
import type { RejectReason, SchemeFacts } from '../../provider.js'
import type { Evaluate } from '../delivery/compile.js'
import type { Field } from '../delivery/field.js'
import type { Reading } from '../delivery/reading.js'
import type { Chunk } from '../delivery/template.js'
import type { KeyScheme, SchemeContext } from '../scheme.js'
import { type CertificateRule, certificateKeys } from './certificate.js'
import { generateKeys, type KeyType, publicKeys, signingKey } from './key-formats.js'
import type { Secrets } from './secret.js'
import { decodeExact } from './signature.js'
import { type SignedRule, SignedScheme } from './signed.js'

export interface PublicKeyRule extends SignedRule {
  /** The public key is in a certificate that the delivery names; `publicKey` is then optional. */
  readonly certificate?: CertificateRule
}

export interface PublicKeyExtra {
  /** Needed only to sign synthetic deliveries. */
  readonly privateKey?: string
  /** Used only when certificates are fetched. */
  readonly fetch?: typeof fetch
}

/** Null: the algorithm has its own digest (Ed25519). */
export type Digest = 'sha1' | 'sha256' | 'sha512' | null

/** For a delivery that names its digest out of a fixed set (SNS); undefined rejects it. */
export type DigestChoice = (field: (field: Field) => Evaluate) => (reading: Reading) => Digest | undefined

export interface DigestRule extends PublicKeyRule {
  readonly digest?: Digest | DigestChoice
}

/** Ed25519 (Discord, ...). A key is the hex or base64 of 32 bytes, or PEM. */
export function ed25519Scheme<C extends CertificateRule | undefined = undefined>(
  rule: PublicKeyRule & { readonly certificate?: C },
) {
  return publicKeyScheme({ kind: 'ed25519', keyType: 'ed25519', digest: null }, rule)
}

/** ECDSA on P-256, the signature in DER (SendGrid, eBay, ...). */
export function ecdsaScheme<C extends CertificateRule | undefined = undefined>(
  rule: DigestRule & { readonly certificate?: C },
) {
  return publicKeyScheme({ kind: 'ecdsa', keyType: 'p256', digest: rule.digest ?? 'sha256' }, rule)
}

/** RSA with PKCS #1 v1.5 padding (Amazon SNS, PayPal, Wise, ...). */
export function rsaScheme<C extends CertificateRule | undefined = undefined>(
  rule: DigestRule & { readonly certificate?: C },
) {
  return publicKeyScheme({ kind: 'rsa', keyType: 'rsa', digest: rule.digest ?? 'sha256' }, rule)
}

interface PublicKeyAlgorithm {
  readonly kind: SchemeFacts['kind']
  readonly keyType: KeyType
  readonly digest: Digest | DigestChoice
}

function publicKeyScheme<C extends CertificateRule | undefined>(
  algorithm: PublicKeyAlgorithm,
  rule: PublicKeyRule & { readonly certificate?: C },
): KeyScheme<Secrets, PublicKeyExtra, C extends CertificateRule ? false : true> {
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
  const { digest, keyType } = algorithm
  const fetched = rule.certificate !== undefined && context.options[context.credential] === undefined
  const configured = fetched ? [] : publicKeys(context, keyType)
  const certificates = fetched ? certificateKeys(rule.certificate!, keyType, context) : null
  const privateKey = signingKey(context)
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
    const decoded = signatures
      .map((text) => decodeExact(text, rule.encoding))
      .filter((bytes) => bytes !== null)
    if (decoded.length === 0) return 'malformed_signature'
    const bytes = concat(content)
    for (let index = 0; index < keys.length; index += 1) {
      for (const signature of decoded) {
        if (verifies(name, bytes, keys[index]!, signature)) return index
      }
    }
    return 'bad_signature'
  }

  return new SignedScheme(algorithm.kind, rule, context, {
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
    write(content, reading) {
      const name = digestOf(reading) ?? null
      return signBytes(name, concat(content), privateKey()).toString(rule.encoding)
    },
  })
}

/** Node throws on some malformed signatures and keys; here they do not verify. */
function verifies(digest: Digest, content: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verifyBytes(digest, content, key, signature)
  } catch {
    return false
  }
}

function concat(content: readonly Chunk[]): Buffer {
  return Buffer.concat(
    content.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk)),
  )
}
