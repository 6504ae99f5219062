import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '../../digest.js'
import type { FieldText } from '../delivery/field.js'

export type Encoding = 'hex' | 'base64' | 'base64url'

export interface SignatureRule {
  /** One field, or several (Box, DocuSign): any of them may match, and a missing one is ignored. */
  readonly in: FieldText | readonly FieldText[]
  readonly prefix?: string
  /** Separates several signatures. One without the prefix is another version and is skipped. */
  readonly separator?: string
  /** `t=<timestamp>,v1=<signature>`: named values between separators (default `,`). */
  readonly pairs?: { readonly signature: string; readonly timestamp?: string }
  /** `<timestamp>,<signature>,...`: the first item is the timestamp (Recurly). */
  readonly timestampFirst?: true
  /** For a signature inside another format (eBay: base64 of JSON). */
  readonly packed?: { unpack(text: string): string | null; pack(signature: string): string }
}

export interface Candidates {
  readonly signatures: readonly string[]
  readonly timestamp: string | undefined
}

/** Limits the number of HMACs that one header can cause. */
const maxCandidates = 16
const maxText = 16_384

export function readSignatures(text: string, rule: SignatureRule): Candidates | null {
  if (text.length > maxText) return null
  if (rule.packed !== undefined) {
    const signature = rule.packed.unpack(text)
    return signature === null ? null : { signatures: [signature], timestamp: undefined }
  }
  if (rule.pairs !== undefined) return readPairs(text, rule.separator ?? ',', rule.pairs)
  const { prefix = '' } = rule
  if (rule.separator === undefined) {
    return text.startsWith(prefix) ? { signatures: [text.slice(prefix.length)], timestamp: undefined } : null
  }
  const items = text.split(rule.separator, maxCandidates + 1).map((item) => item.trimStart())
  if (items.length > maxCandidates) return null
  const timestamp = rule.timestampFirst ? items.shift() : undefined
  const signatures = items.filter((item) => item.startsWith(prefix)).map((item) => item.slice(prefix.length))
  return signatures.length === 0 ? null : { signatures, timestamp }
}

function readPairs(
  text: string,
  separator: string,
  names: { readonly signature: string; readonly timestamp?: string },
): Candidates | null {
  const items = text.split(separator, maxCandidates + 1)
  if (items.length > maxCandidates) return null
  const signatures: string[] = []
  let timestamp: string | undefined
  for (const item of items) {
    const equals = item.indexOf('=')
    if (equals < 0) return null
    const name = item.slice(0, equals).trim()
    const value = item.slice(equals + 1)
    if (name === names.signature) signatures.push(value)
    else if (name === names.timestamp) {
      // With two timestamps it is unknown which of them was signed.
      if (timestamp !== undefined) return null
      timestamp = value
    }
  }
  return signatures.length === 0 ? null : { signatures, timestamp }
}

export function writeSignature(
  signature: string,
  timestamp: string | undefined,
  rule: SignatureRule,
): string {
  const { prefix = '', separator = ',', pairs } = rule
  if (rule.packed !== undefined) return rule.packed.pack(signature)
  if (pairs !== undefined) {
    const stamp = pairs.timestamp === undefined ? [] : [`${pairs.timestamp}=${timestamp ?? ''}`]
    return [...stamp, `${pairs.signature}=${signature}`].join(separator)
  }
  return rule.timestampFirst ? `${timestamp ?? ''}${separator}${prefix}${signature}` : prefix + signature
}

/**
 * Null unless the whole text is the canonical encoding of some bytes; `length` fixes their number. Node's decoders skip
 * unknown characters, so that several header texts would give one accepted digest. Only the case of hex is free.
 */
export function decodeExact(text: string, encoding: Encoding, length?: number): Buffer | null {
  if (length !== undefined && text.length !== encodedLength(encoding, length)) return null
  const bytes = Buffer.from(text, encoding)
  // 44 characters of base64 are 32 bytes only with padding.
  if (length !== undefined && bytes.length !== length) return null
  if (encoding === 'hex') return bytes.length * 2 === text.length ? bytes : null
  return bytes.toString(encoding) === text ? bytes : null
}

/** `text` is a signed SHA-256 in hex. */
export function isHashOf(content: string | Uint8Array, text: unknown): boolean {
  const hash = typeof text === 'string' ? decodeExact(text, 'hex', 32) : null
  return hash !== null && timingSafeEqual(hash, sha256(content))
}

function encodedLength(encoding: Encoding, length: number): number {
  if (encoding === 'hex') return length * 2
  return encoding === 'base64' ? Math.ceil(length / 3) * 4 : Math.ceil((length * 4) / 3)
}
