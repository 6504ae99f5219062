/** Keys in the formats that senders use: PEM, certificate, base64 DER, raw Ed25519 bytes. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { SchemeContext } from '../scheme.js'
import { credentialTexts } from './secret.js'

export type KeyType = 'ed25519' | 'p256' | 'rsa'

export interface KeyPair {
  /** PEM. */
  readonly publicKey: string
  /** PEM (PKCS #8). Only for signing synthetic deliveries; a receiver does not need it. */
  readonly privateKey: string
}

/** A key pair to sign synthetic deliveries: pass `publicKey` and `privateKey` to the provider's factory. */
export function generateKeys(type: KeyType): KeyPair {
  const pair = keyObjects(type)
  return {
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function keyObjects(type: KeyType) {
  if (type === 'ed25519') return generateKeyPairSync('ed25519')
  if (type === 'p256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return generateKeyPairSync('rsa', { modulusLength: 2048 })
}

export function publicKeys(context: SchemeContext, type: KeyType): readonly KeyObject[] {
  const forms = `PEM, certificate, base64${type === 'ed25519' ? ' or hex' : ''}`
  return credentialTexts(context).map((text) => checkedKey(context, readPublicKey(text, type), type, forms))
}

export function checkedKey(
  { provider, credential }: SchemeContext,
  key: KeyObject | null,
  type: KeyType,
  forms: string,
): KeyObject {
  if (key !== null && isOfType(key, type)) return key
  const form = `a public key (${type}): ${forms}`
  throw new HookonceError('SECRET_FORM', { provider, option: credential, form })
}

/** The returned function throws if the source has no private key: only `sign` needs it. */
export function signingKey({ provider, options: { privateKey: text } }: SchemeContext): () => KeyObject {
  const key = text === undefined ? null : readPrivateKey(provider, String(text))
  return () => {
    if (key !== null) return key
    throw new HookonceError('SIGNING_UNAVAILABLE', { provider, problem: 'it has no privateKey' })
  }
}

function readPrivateKey(provider: string, text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch {
    const form = 'a private key in PEM'
    throw new HookonceError('SECRET_FORM', { provider, option: 'privateKey', form })
  }
}

export function readPublicKey(text: string, type: KeyType): KeyObject | null {
  const trimmed = text.trim()
  try {
    if (trimmed.includes('-----BEGIN CERTIFICATE-----')) return new X509Certificate(trimmed).publicKey
    if (trimmed.startsWith('-----')) return createPublicKey(trimmed)
    const bare = trimmed.replace(/^whpk_/, '')
    const bytes = Buffer.from(bare, /^[0-9a-fA-F]{64}$/.test(bare) ? 'hex' : 'base64')
    // The fixed DER header of an Ed25519 SubjectPublicKeyInfo (RFC 8410).
    const head = Buffer.from('302a300506032b6570032100', 'hex')
    const der = type === 'ed25519' && bytes.length === 32 ? Buffer.concat([head, bytes]) : bytes
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

/** Weak RSA keys and other curves are refused when the source is made. */
export function isOfType(key: KeyObject, type: KeyType): boolean {
  if (type === 'ed25519') return key.asymmetricKeyType === 'ed25519'
  if (type === 'p256') {
    return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  }
  return key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 1_024
}
