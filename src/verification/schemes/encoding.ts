/**
 * Strict decoding of signatures and secrets. Node's decoders skip what they do not know and stop where they please;
 * here a text has one reading or none, so no two header texts stand for one accepted digest (but for the case of hex).
 */
export type Encoding = 'hex' | 'base64' | 'base64url'

/** Null unless the whole text is the canonical encoding of some bytes; `length` also fixes how many. */
export function decodeExact(text: string, encoding: Encoding, length?: number): Buffer | null {
  if (length !== undefined && text.length !== encodedLength(encoding, length)) return null
  const bytes = Buffer.from(text, encoding)
  // Text of the right length can still be too many bytes: 44 characters of base64 are 32 bytes only with padding.
  if (length !== undefined && bytes.length !== length) return null
  if (encoding === 'hex') return bytes.length * 2 === text.length ? bytes : null
  return bytes.toString(encoding) === text ? bytes : null
}

function encodedLength(encoding: Encoding, length: number): number {
  if (encoding === 'hex') return length * 2
  return encoding === 'base64' ? Math.ceil(length / 3) * 4 : Math.ceil((length * 4) / 3)
}
