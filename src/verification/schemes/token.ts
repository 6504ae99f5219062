/**
 * The schemes that sign nothing: a shared token in every delivery, HTTP Basic authentication, and no check at all. They
 * identify the sender at best; they do not protect the content.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import { HookonceError } from '../../errors.js'
import type { SchemeFacts } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import { putField } from '../delivery/put.js'
import {
  noCover,
  reject,
  type Scheme,
  type SchemeContext,
  type SchemeDefinition,
  type SecretScheme,
  secretScheme,
} from '../scheme.js'
import { credentialTexts, type SecretRule, type Secrets, secretKeys } from './secret.js'

export interface TokenRule {
  /** With `[]` in a JSON path every value must match (Microsoft Graph). */
  readonly in: FieldText
  readonly prefix?: string
  readonly minBytes?: SecretRule['minBytes']
}

const minBytes = {
  least: 8,
  why: 'a shorter token, often chosen by a person, can be guessed over the network',
}

export function tokenScheme(rule: TokenRule): SecretScheme<Secrets> {
  return secretScheme(
    (context) => createTokenScheme('token', rule, context, (secret) => (rule.prefix ?? '') + secret),
    () => randomBytes(24).toString('base64url'),
  )
}

/** HTTP Basic authentication: the secret is `user:password`. */
export function basicScheme(): SecretScheme<Secrets> {
  return secretScheme(
    (context) => {
      const { provider, credential } = context
      for (const text of credentialTexts(context)) {
        const colon = text.indexOf(':')
        if (colon < 0) {
          throw new HookonceError('SECRET_FORM', { provider, option: credential, form: 'user:password' })
        }
        // The user name is not secret, so only the length of the password is checked.
        const found = Buffer.byteLength(text.slice(colon + 1).trim())
        const { least } = minBytes
        if (found < least) {
          throw new HookonceError('SECRET_SHORT', { provider, option: credential, found, least })
        }
      }
      return createTokenScheme('basic', { in: 'header:authorization' }, context, basicHeader)
    },
    () => `hookonce:${randomBytes(24).toString('base64url')}`,
  )
}

/** SHA-1, which is all that nginx has, and SHA-256 in hex. */
const fingerprintLengths = [40, 64]

/**
 * Mutual TLS that ends at a proxy: the proxy verifies the client certificate and names it in a header, by its fingerprint
 * or its subject. This process sees only the header, so the proxy must remove a header of that name from every request
 * that comes from outside. The credential is public, so it is never masked in logs.
 */
export function clientCertificateScheme(
  field: FieldText,
  names: 'fingerprint' | 'subject',
): SchemeDefinition<Secrets> {
  const normal = names === 'fingerprint' ? plainHex : (text: string) => text.trim()
  return {
    credential: 'publicKey',
    extraOptions: [],
    credentialNeeded: true,
    create(context) {
      const texts = credentialTexts(context).map(normal)
      if (names === 'fingerprint' && !texts.every(isFingerprint)) {
        const form = 'a SHA-1 or SHA-256 fingerprint in hex, with or without colons'
        throw new HookonceError('SECRET_FORM', {
          provider: context.provider,
          option: context.credential,
          form,
        })
      }
      return fixedTextScheme('mtls', context, field, texts, normal)
    },
    example: () => ({
      credential: names === 'fingerprint' ? randomBytes(32).toString('hex') : 'CN=hookonce',
      extra: {},
    }),
  }
}

/** Proxies write a fingerprint in either case, with or without colons. */
function plainHex(text: string): string {
  return text.trim().replaceAll(':', '').toLowerCase()
}

function isFingerprint(text: string): boolean {
  return fingerprintLengths.includes(text.length) && /^[0-9a-f]+$/.test(text)
}

/** No check at all. Only `unverified(...)` uses it, so that a check is never omitted by accident. */
export function noScheme(): SchemeDefinition<never> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: false,
    create: () => ({
      facts: { ...noCover, kind: 'none', credential: '', signatureIn: [] },
      keyCount: 0,
      verify: () => ({ ok: true, secretIndex: 0 }),
      sign: () => {},
    }),
    example: () => ({ credential: undefined as never, extra: {} }),
  }
}

function createTokenScheme(
  kind: SchemeFacts['kind'],
  rule: TokenRule,
  context: SchemeContext,
  expected: (secret: string) => string,
): Scheme {
  const secrets = secretKeys(context, { minBytes: rule.minBytes ?? minBytes })
  const texts = secrets.map((secret) => expected(secret.toString('utf8')))
  return fixedTextScheme(kind, context, rule.in, texts)
}

/** Every delivery has one of these texts. `normal` makes spellings of one text equal. */
function fixedTextScheme(
  kind: SchemeFacts['kind'],
  { compiler, credential }: SchemeContext,
  field: FieldText,
  texts: readonly string[],
  normal = (text: string) => text,
): Scheme {
  const place = compiler.fill(field) as FieldText
  const read = compiler.all(place)
  const digests = texts.map(sha256)
  return {
    facts: { ...noCover, kind, credential, signatureIn: [place] },
    keyCount: texts.length,
    verify(reading) {
      const found = read(reading).map(normal)
      if (reading.unreadable) return reject('malformed_body')
      if (found.length === 0 || found[0] === '') return reject('missing_signature')
      // Digests are compared, so that the time taken shows neither the length nor a common prefix. Only the first text
      // is hashed, and the others are compared with it: a delivery with many wrong tokens costs one hash.
      const hash = sha256(found[0]!)
      let secretIndex = -1
      for (let index = 0; index < digests.length; index += 1) {
        if (timingSafeEqual(hash, digests[index]!) && secretIndex < 0) secretIndex = index
      }
      if (secretIndex < 0 || found.some((text) => text !== found[0])) return reject('bad_signature')
      return { ok: true, secretIndex }
    },
    sign: (draft) => putField(draft, place, texts[0]!),
  }
}

function basicHeader(secret: string): string {
  return `Basic ${Buffer.from(secret, 'utf8').toString('base64')}`
}
