/** Secrets as users give them, made into keys when a source is created: bad ones stop it there (S1, S2). */
import { createHash } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { SchemeContext } from '../scheme.js'
import { decodeExact } from './encoding.js'

/** One, several (rotation: the first signs, all verify), or a function that gives them when the source is made. */
export type Secrets = string | readonly string[] | (() => string | readonly string[])

export interface SecretRule {
  /** How the sender turns the text it shows into key bytes. Default `utf8`: used as it is. */
  readonly encoding?: 'utf8' | 'base64' | 'hex'
  /** Taken off before decoding, e.g. `whsec_`. A secret without it is decoded as it is ... */
  readonly prefix?: string
  /** ... or taken as this, where the sender's own library does so. */
  readonly withoutPrefix?: 'utf8'
  /** The key is this digest of the secret (Braintree). */
  readonly digest?: 'sha1' | 'sha256'
  /** Fewer than 16 only where the sender itself makes or allows shorter ones; `why` says so. */
  readonly minBytes?: { readonly least: number; readonly why: string }
}

export const defaultMinBytes = 16

/** The texts of a credential option: at least one, none blank. A line end around one came from a file, not the sender. */
export function credentialTexts(context: SchemeContext): readonly string[] {
  const { provider, credential } = context
  const given = context.options[credential]
  const value: unknown = typeof given === 'function' ? (given as () => unknown)() : given
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = list.filter((text): text is string => typeof text === 'string' && text.trim() !== '')
  if (texts.length === 0 || texts.length !== list.length) {
    throw new HookonceError('SECRET_MISSING', { provider, option: credential })
  }
  return texts.map((text) => text.replace(/^[\r\n]+|[\r\n]+$/g, ''))
}

export function secretKeys(
  context: SchemeContext,
  rule: SecretRule,
  least = defaultMinBytes,
): readonly Buffer[] {
  const { provider, credential } = context
  return credentialTexts(context).map((text) => {
    const bytes = decodeSecret(text, rule)
    if (bytes === null) {
      throw new HookonceError('SECRET_FORM', { provider, option: credential, form: rule.encoding ?? 'utf8' })
    }
    // White space is no part of an encoding and is left out there; of a text it could be a part.
    if (bytes.equals(Buffer.from(text)) && text !== text.trim()) {
      const form = 'text without white space around it'
      throw new HookonceError('SECRET_FORM', { provider, option: credential, form })
    }
    const needed = rule.minBytes?.least ?? least
    if (bytes.length < needed) {
      throw new HookonceError('SECRET_SHORT', {
        provider,
        option: credential,
        found: bytes.length,
        least: needed,
      })
    }
    return rule.digest === undefined ? bytes : createHash(rule.digest).update(bytes).digest()
  })
}

function decodeSecret(text: string, rule: SecretRule): Buffer | null {
  const { prefix = '', encoding = 'utf8' } = rule
  const hasPrefix = prefix !== '' && text.trimStart().startsWith(prefix)
  if (!hasPrefix && rule.withoutPrefix !== undefined) return Buffer.from(text, 'utf8')
  const bare = hasPrefix ? text.trimStart().slice(prefix.length) : text
  if (encoding === 'utf8') return Buffer.from(bare, 'utf8')
  // People copy base64 secrets without their padding, or in the URL alphabet; that is no risk in a secret.
  if (encoding === 'base64') {
    const plain = bare.trim().replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
    return decodeExact(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='), 'base64')
  }
  return decodeExact(bare.trim(), 'hex')
}

/** A fresh secret in the sender's form. */
export function exampleSecret(rule: SecretRule, random: Buffer): string {
  const { prefix = '', encoding = 'utf8' } = rule
  return prefix + random.toString(encoding === 'utf8' ? 'base64url' : encoding)
}
