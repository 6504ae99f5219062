/** How a signature is written down: taking the candidates out of a text, and writing one. */
import type { FieldText } from '../delivery/field.js'

export interface SignatureRule {
  /** One field, or several that may each hold one (Box, DocuSign): any may match, and absent ones do not count. */
  readonly in: FieldText | readonly FieldText[]
  /** Before each signature: `sha256=`, `v1,`. */
  readonly prefix?: string
  /** Between several signatures. Those without the prefix are other versions and are passed over. */
  readonly separator?: string
  /** `t=<timestamp>,v1=<signature>`: named values between separators (default `,`). */
  readonly pairs?: { readonly signature: string; readonly timestamp?: string }
  /** `<timestamp>,<signature>,...`: the first item is the timestamp (Recurly). */
  readonly timestampFirst?: true
  /** The signature is packed in something else (eBay: base64 of JSON): how to take it out and put it in. */
  readonly packed?: { unpack(text: string): string | null; pack(signature: string): string }
}

export interface Candidates {
  readonly signatures: readonly string[]
  readonly timestamp: string | undefined
}

/** A header full of commas must not buy an HMAC for each of them. */
const maxCandidates = 16
const maxText = 16_384

/** Null when the text does not have the form at all. */
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
      // Two timestamps: which one was signed would be anybody's guess.
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
