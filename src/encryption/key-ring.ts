import { createSecretKey, type KeyObject } from 'node:crypto'
import { invalid } from '../errors.js'
import { either, flag, mapOf, type Rule, rule, shape, text } from '../options.js'

export interface EncryptionOptions {
  /** The id of the key that new payloads are encrypted with. */
  readonly current: string
  /** All keys that stored payloads or archives still need, by id: 32 bytes as base64, hex or a Buffer. */
  readonly keys: Readonly<Record<string, string | Uint8Array>>
  /**
   * Refuse stored payloads that are not encrypted. Default false: payloads from before there were keys stay readable. So
   * does plain text that somebody writes in the place of an encrypted payload.
   */
  readonly required?: boolean
}

/** The configuration file lists all problems at once. `keyRing` also checks that the keys can be used. */
export const encryptionRule = shape({
  current: text,
  keys: mapOf(
    either(
      text,
      rule('32 bytes', (value) => value instanceof Uint8Array),
    ),
  ),
  required: flag,
} satisfies Record<keyof EncryptionOptions, Rule>)

export interface KeyRing {
  readonly current: string
  readonly required: boolean
  get(id: string): KeyObject | undefined
}

const KEY_BYTES = 32

export function keyRing(options: EncryptionOptions): KeyRing {
  const { current, keys, required = false } = options
  const problem = (text: string) =>
    invalid(
      'The option encryption',
      `${text}. It takes { current, keys }, each key 32 random bytes as base64, hex or a Buffer`,
    )
  if (typeof keys !== 'object' || keys === null) throw problem('needs `keys`')
  const ring = new Map<string, KeyObject>()
  for (const [id, key] of Object.entries(keys)) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(id))
      throw problem('has a key id with characters other than letters, digits, _ . -')
    const bytes = bytesOf(key)
    if (bytes?.byteLength !== KEY_BYTES)
      throw problem(`has a key "${id}" that is not ${KEY_BYTES} bytes long`)
    ring.set(id, createSecretKey(bytes))
  }
  if (!ring.has(current))
    throw problem(`names the current key "${String(current).slice(0, 64)}", which is not in \`keys\``)
  if (typeof required !== 'boolean') throw problem('needs true or false as `required`')
  return { current, required, get: (id) => ring.get(id) }
}

function bytesOf(key: unknown): Uint8Array | null {
  if (key instanceof Uint8Array) return key
  if (typeof key !== 'string') return null
  const text = key.trim()
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}
