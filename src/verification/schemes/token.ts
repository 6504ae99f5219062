/**
 * The schemes that sign nothing: a shared token in every delivery, HTTP Basic authentication, and no check at all. They
 * identify the sender at best; they do not protect the content.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { SchemeFacts } from '../../provider.js'
import type { FieldText } from '../delivery/field.js'
import { putField } from '../delivery/put.js'
import {
  reject,
  type Scheme,
  type SchemeContext,
  type SchemeDefinition,
  type SecretScheme,
} from '../scheme.js'
import { credentialTexts, type SecretRule, type Secrets, secretKeys } from './secret.js'

export interface TokenRule {
  /** With `[]` in a JSON path every value must match (Microsoft Graph). */
  readonly in: FieldText
  /** Before the token, e.g. `Bearer `. */
  readonly prefix?: string
  readonly minBytes?: SecretRule['minBytes']
}

/** A shorter token, often chosen by a person, can be guessed over the network. */
const leastBytes = 8

export function tokenScheme(rule: TokenRule): SecretScheme<Secrets> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create: (context) => createTokenScheme('token', rule, context, (secret) => (rule.prefix ?? '') + secret),
    example: () => ({ credential: randomBytes(24).toString('base64url'), extra: {} }),
  }
}

/** HTTP Basic authentication: the secret is `user:password`. */
export function basicScheme(): SecretScheme<Secrets> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: true,
    create(context) {
      const { provider, credential } = context
      for (const text of credentialTexts(context)) {
        const colon = text.indexOf(':')
        if (colon < 0) {
          throw new HookonceError('SECRET_FORM', { provider, option: credential, form: 'user:password' })
        }
        // The user name is not secret, so only the length of the password is checked.
        const found = Buffer.byteLength(text.slice(colon + 1).trim())
        if (found < leastBytes) {
          throw new HookonceError('SECRET_SHORT', { provider, option: credential, found, least: leastBytes })
        }
      }
      return createTokenScheme('basic', { in: 'header:authorization' }, context, basicHeader)
    },
    example: () => ({ credential: `hookonce:${randomBytes(24).toString('base64url')}`, extra: {} }),
  }
}

/** No check at all. Only `unverified(...)` uses it, so that a check is never omitted by accident. */
export function noScheme(): SchemeDefinition<never> {
  return {
    credential: 'secret',
    extraOptions: [],
    credentialNeeded: false,
    create: () => ({
      facts: factsOf('none', '', []),
      keyCount: 0,
      verify: () => ({ ok: true, secretIndex: 0 }),
      sign: () => {},
    }),
    example: () => ({ credential: undefined as never, extra: {} }),
  }
}

/** `expected` is the whole text a delivery must carry for a secret. */
function createTokenScheme(
  kind: SchemeFacts['kind'],
  rule: TokenRule,
  context: SchemeContext,
  expected: (secret: string) => string,
): Scheme {
  const place = context.compiler.fill(rule.in) as FieldText
  const read = context.compiler.all(place)
  const secretRule = rule.minBytes === undefined ? {} : { minBytes: rule.minBytes }
  const texts = secretKeys(context, secretRule, leastBytes).map((key) => expected(key.toString('utf8')))
  const digests = texts.map(digest)
  return {
    facts: factsOf(kind, context.credential, [place]),
    keyCount: texts.length,
    verify(reading) {
      const tokens = read(reading)
      if (reading.unreadable) return reject('malformed_body')
      if (tokens.length === 0 || tokens[0] === '') return reject('missing_signature')
      // Digests are compared, so that the time taken shows neither the length nor a common prefix. Only the first token
      // is hashed, and the others are compared with it: a delivery with many wrong tokens costs one hash.
      const hash = digest(tokens[0]!)
      let secretIndex = -1
      for (let index = 0; index < digests.length; index += 1) {
        if (timingSafeEqual(hash, digests[index]!) && secretIndex < 0) secretIndex = index
      }
      if (secretIndex < 0 || tokens.some((text) => text !== tokens[0])) return reject('bad_signature')
      return { ok: true, secretIndex }
    },
    sign: (draft) => putField(draft, place, texts[0]!),
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}

function basicHeader(secret: string): string {
  return `Basic ${Buffer.from(secret, 'utf8').toString('base64')}`
}

function factsOf(
  kind: SchemeFacts['kind'],
  credential: string,
  signatureIn: SchemeFacts['signatureIn'],
): SchemeFacts {
  return {
    kind,
    credential,
    signatureIn,
    each: null,
    encoding: null,
    separator: null,
    covers: { body: 'none', url: false, fields: [] },
    timestamp: null,
  }
}
