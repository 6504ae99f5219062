/**
 * HMAC (RFC 2104) of a short content as two calls of the one-shot `crypto.hash`, over bytes that start with the padded key.
 * `createHmac` makes an object with a finaliser for each delivery. In a loop both take the same time; in a busy server the
 * main thread spent 13 µs less on a request without these objects (docs/decisions/0007-time-of-a-delivery.md).
 */
import * as crypto from 'node:crypto'
import type { Chunk } from '../delivery/template.js'

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512'

export type Digest = (content: readonly Chunk[]) => Buffer

export const digestBytes: Readonly<Record<HmacAlgorithm, number>> = {
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
}

const blockBytes: Readonly<Record<HmacAlgorithm, number>> = {
  sha1: 64,
  sha256: 64,
  sha384: 128,
  sha512: 128,
}

const INNER = 0x36
const OUTER = 0x5c

/** Longer content is hashed in place: the copy would cost more than it saves. */
const SHORT_BYTES = 32 * 1024
const MOST_BLOCK_BYTES = 128

/** A digest is synchronous, so one at a time uses this memory. The next one overwrites the content. */
const scratch = Buffer.allocUnsafeSlow(MOST_BLOCK_BYTES + SHORT_BYTES)

export function hmacDigest(algorithm: HmacAlgorithm, key: Uint8Array): Digest {
  const streamed: Digest = (content) => {
    const hmac = crypto.createHmac(algorithm, key)
    for (const chunk of content) hmac.update(chunk)
    return hmac.digest()
  }
  const block = blockBytes[algorithm]
  const inner = padded(algorithm, key, INNER)
  const outer = Buffer.concat([padded(algorithm, key, OUTER), Buffer.alloc(digestBytes[algorithm])])
  return (content) => {
    if (byteLength(content) > SHORT_BYTES) return streamed(content)
    inner.copy(scratch)
    let end = block
    for (const chunk of content) {
      if (typeof chunk === 'string') end += scratch.write(chunk, end, 'utf8')
      else {
        scratch.set(chunk, end)
        end += chunk.byteLength
      }
    }
    crypto.hash(algorithm, scratch.subarray(0, end), 'buffer').copy(outer, block)
    return crypto.hash(algorithm, outer, 'buffer')
  }
}

/** The key as a block of the hash, XORed with `pad`. A key longer than a block is replaced by its digest. */
function padded(algorithm: HmacAlgorithm, key: Uint8Array, pad: number): Buffer {
  const short =
    key.byteLength > blockBytes[algorithm] ? crypto.createHash(algorithm).update(key).digest() : key
  const block = Buffer.alloc(blockBytes[algorithm], pad)
  for (let i = 0; i < short.byteLength; i++) block[i]! ^= short[i]!
  return block
}

/** An upper bound for texts: a character has at most three bytes in UTF-8. */
function byteLength(content: readonly Chunk[]): number {
  let length = 0
  for (const chunk of content) length += typeof chunk === 'string' ? 3 * chunk.length : chunk.byteLength
  return length
}
