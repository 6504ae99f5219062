/** Secrets are checked and decoded when the source is made (S1, S2), and masked in texts. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import { HookonceError } from '../../errors.js'
import type { SchemeContext } from '../scheme.js'
import { decodeExact } from './signature.js'

/** One, several (rotation: the first signs, all verify), or a function that returns them when the source is made. */
export type Secrets = string | readonly string[] | (() => string | readonly string[])

export interface SecretRule {
  /** Decodes the text of the secret to key bytes, as the sender does. Default `utf8`. */
  readonly encoding?: 'utf8' | 'base64' | 'hex'
  /** Removed before decoding, e.g. `whsec_`. A secret without it is decoded whole. */
  readonly prefix?: string
  /** A secret without the prefix is UTF-8 text, because the sender's own library treats it so. */
  readonly withoutPrefix?: 'utf8'
  /** The key is this digest of the secret (Braintree). */
  readonly digest?: 'sha1' | 'sha256'
  /** The form of the sender's API keys, which people take for the signing secret. */
  readonly apiKey?: RegExp
  /** Below 16 only for a sender that itself makes or allows shorter secrets; `why` says so. */
  readonly minBytes?: { readonly least: number; readonly why: string }
}

const defaultMinBytes = 16
/** Shorter texts are common words, which would be masked everywhere. */
const leastMaskedCharacters = 8

/** The texts of a credential option: at least one, none blank. Line ends around a text come from a file: removed. */
export function credentialTexts(context: SchemeContext): readonly string[] {
  const { provider, credential } = context
  const option = context.options[credential]
  const value: unknown = typeof option === 'function' ? (option as () => unknown)() : option
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const texts = list.filter((text): text is string => typeof text === 'string' && text.trim() !== '')
  if (texts.length === 0 || texts.length !== list.length) {
    throw new HookonceError('SECRET_MISSING', { provider, option: credential })
  }
  return texts.map((text) => text.replace(/^[\r\n]+|[\r\n]+$/g, ''))
}

export function secretKeys(context: SchemeContext, rule: SecretRule): readonly Buffer[] {
  const { provider, credential } = context
  const least = rule.minBytes?.least ?? defaultMinBytes
  return credentialTexts(context).map((text) => {
    if (rule.apiKey?.test(text.trim())) {
      const form = `the signing secret of the endpoint${rule.prefix ? ` (${rule.prefix}...)` : ''}, and this is an API key`
      throw new HookonceError('SECRET_FORM', { provider, option: credential, form })
    }
    const bytes = decodeSecret(text, rule)
    if (bytes === null) {
      throw new HookonceError('SECRET_FORM', { provider, option: credential, form: rule.encoding ?? 'utf8' })
    }
    // A decoded secret ignores white space around it. In a plain text it could belong to the secret, so it is an error.
    if (bytes.equals(Buffer.from(text)) && text !== text.trim()) {
      const form = 'text without white space around it'
      throw new HookonceError('SECRET_FORM', { provider, option: credential, form })
    }
    const found = bytes.length
    if (found < least) {
      throw new HookonceError('SECRET_SHORT', { provider, option: credential, found, least })
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
  return encoding === 'base64' ? decodeBase64(bare.trim()) : decodeExact(bare.trim(), 'hex')
}

/** People copy base64 secrets without padding or in the URL alphabet. A secret is not an input of strangers. */
function decodeBase64(text: string): Buffer | null {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')
  return decodeExact(plain.padEnd(Math.ceil(plain.length / 4) * 4, '='), 'base64')
}

export function exampleSecret(rule: SecretRule, random: Buffer): string {
  const { prefix = '', encoding = 'utf8' } = rule
  return prefix + random.toString(encoding === 'utf8' ? 'base64url' : encoding)
}

/**
 * Masks the secrets of a source in a text. Only the returned function holds them, so that printing a source shows none.
 * `secrets` are the values of options: a text, a list, or a function that returns them.
 */
export function concealer(secrets: readonly unknown[]): (text: string) => string {
  const texts = textsOf(secrets)
  const needles = [...new Set(texts.flatMap(forms))]
    .filter((text) => text.length >= leastMaskedCharacters)
    .sort((a, b) => b.length - a.length)
  return (text) => needles.reduce((rest, needle) => rest.replaceAll(needle, '***'), text)
}

function textsOf(values: readonly unknown[]): string[] {
  return values.flatMap((value) => {
    const resolved: unknown = typeof value === 'function' ? value() : value
    return [resolved].flat().filter((text): text is string => typeof text === 'string')
  })
}

const digestKey = randomBytes(32)

/** Equal secrets have equal digests, which say nothing outside of this process. */
export function secretDigests(secret: unknown): readonly string[] {
  return textsOf([secret]).map((text) => createHmac('sha256', digestKey).update(text.trim()).digest('hex'))
}

/**
 * A secret stands in an error in many forms: as it is, without its prefix (`whsec_`), as a line of a key in PEM, escaped for
 * JSON or a URL, or encoded, by itself or inside a longer text.
 */
function forms(secret: string): string[] {
  const trimmed = secret.trim()
  const bare = trimmed.replace(/^[A-Za-z]+_/, '')
  const lines = trimmed.split(/\r?\n/).filter((line) => !line.startsWith('-----'))
  const texts = [trimmed, bare, ...lines, lines.join('')]
  const written = texts.flatMap((text) => [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text.toWellFormed()),
  ])
  const keys = [trimmed, bare].flatMap((text) => [Buffer.from(text), ...decoded(text)])
  return [...written, ...keys.flatMap(encodings)]
}

function decoded(text: string): Buffer[] {
  return [decodeBase64(text), decodeExact(text, 'hex')].filter(
    (bytes) => bytes !== null && bytes.length >= leastMaskedCharacters,
  ) as Buffer[]
}

function encodings(bytes: Buffer): string[] {
  const hex = bytes.toString('hex')
  return [
    bytes.toString('utf8'),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
  ]
}

/**
 * The base64 of the bytes inside of a longer text, where `shift` bytes before them share their first group: the digits that
 * only these bytes decide.
 */
function base64At(bytes: Buffer, shift: number): string[] {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
  const inner = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  const whole = shift === 0 ? [text, text.replace(/=+$/, '')] : []
  const all = [...whole, inner]
  const forUrls = all.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [...all, ...forUrls, ...all.map(encodeURIComponent)]
}
