import { createHmac, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hmacDigest } from '#dist/verification/schemes/keyed-digest.js'

const algorithms = ['sha1', 'sha256', 'sha384', 'sha512'] as const
const keyLengths = [0, 1, 32, 63, 64, 65, 127, 128, 129, 500]
// 32 KiB is the longest content that is hashed in one piece.
const contentLengths = [0, 1, 55, 64, 1_000, 32 * 1024 - 3, 32 * 1024, 32 * 1024 + 1, 200_000]

test.each(algorithms)(
  'the digest of %s is that of createHmac, for keys and contents of every length',
  (algorithm) => {
    for (const keyLength of keyLengths) {
      const key = randomBytes(keyLength)
      const digest = hmacDigest(algorithm, key)
      for (const length of contentLengths) {
        const body = randomBytes(length)
        for (const content of [[body], ['1700000000', '.', body], ['zażółć ', body, ' 🎉\ud800']]) {
          const expected = createHmac(algorithm, key)
          for (const chunk of content) expected.update(chunk)
          expect(digest(content).equals(expected.digest()), `${keyLength}-byte key, ${length} bytes`).toBe(
            true,
          )
        }
      }
    }
  },
)

test('a digest does not change when another is made after it', () => {
  const first = hmacDigest('sha256', Buffer.from('one'))(['content'])
  const kept = Buffer.from(first)
  hmacDigest('sha256', Buffer.from('two'))(['another content'])
  expect(first.equals(kept)).toBe(true)
})
