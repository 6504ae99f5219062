/**
 * Readers of what strangers send, on texts that were made to be slow. Their work must grow with the text, not with its
 * square: 16 times the text may take 64 times as long, which leaves room for a busy machine, and a square would take 256.
 */
import { contentful, unverified } from 'hookonce/providers'
import { describe, expect, test, vi } from 'vitest'
import { globMatches } from '#dist/glob.js'
import { withoutCredentials } from '#dist/processing/error-text.js'
import { parsePath, valuesAt, withoutValues } from '#dist/processing/private-values.js'
import { multipartField, parsePairs, xmlText } from '#dist/verification/delivery/body-formats.js'

/** A pause of a busy machine may take this long. A square takes longer with the sizes below. */
const LEAST_MS = 1_000

async function msOf(run: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

async function expectLinear(size: number, run: (size: number) => unknown): Promise<void> {
  await run(size)
  const small = Math.min(await msOf(() => run(size)), await msOf(() => run(size)))
  const bound = Math.max(64 * small, LEAST_MS)
  let large = await msOf(() => run(16 * size))
  for (let i = 0; i < 4 && large >= bound; i++) large = Math.min(large, await msOf(() => run(16 * size)))
  expect(large).toBeLessThan(bound)
}

const filled = (text: string, size: number) => text.repeat(Math.ceil(size / text.length))

describe('XML', () => {
  test.each([
    '<a',
    'a',
    '<a ',
    '<a b="',
    "<a b='",
    '<a>',
    '<a/',
    '</a',
    '<!--',
    '<![CDATA[',
    '<?',
    '<a>x</a>',
    '"',
    '/',
  ])('of %j, again and again', (piece) =>
    expectLinear(16_000, (size) => xmlText(`<r><${filled(piece, size)}`, 'r.a.b')),
  )

  test('reads what it read before', () => {
    const xml = `<?xml version="1.0"?><r a="1>2" b='x/'><!-- <a>no</a> --><e/><f g="/"/><a>x &amp; y</a><a>2</a></r>`
    expect(xmlText(xml, 'r.a')).toBe('x & y')
    expect(xmlText('<r><a>1</b></r>', 'r.a')).toBeUndefined()
    expect(xmlText('<r><a b="<">1</a></r>', 'r.a')).toBeUndefined()
    expect(xmlText('<r><a b=">1</a></r>', 'r.a')).toBeUndefined()
    expect(xmlText('<r><a/><a>2</a></r>', 'r.a')).toBe('2')
  })

  test('of an unverified source', async () => {
    const source = unverified({ id: 'xml:a.b', type: 'xml:a.c' })
    await expectLinear(16_000, (size) => {
      const body = Buffer.from(`<${filled('a', size)}`)
      source.identify({ method: 'POST', url: 'http://x/', headers: { 'content-type': 'text/xml' }, body })
    })
  })
})

describe('other bodies', () => {
  test.each([';a="', ';a=b', ';a', ' ', '"', '\\"', '=', ';'])('multipart heads of %j', (piece) =>
    expectLinear(16_000, (size) => {
      const head = `content-disposition: form-data; name=a${filled(piece, size)}`
      const body = Buffer.from(`--x\r\n${head}\r\n\r\nvalue\r\n--x--`)
      return multipartField(body, 'multipart/form-data; boundary=x', 'a')
    }),
  )

  test.each(['--x', '\r\n--x', '\r\n\r\n', '-'])('multipart bodies of %j', (piece) =>
    expectLinear(16_000, (size) =>
      multipartField(Buffer.from(filled(piece, size)), 'multipart/form-data; boundary=x', 'a'),
    ),
  )

  test.each(['a=b&', '&', '=', '%41', '+', '%'])('forms of %j', (piece) =>
    expectLinear(16_000, (size) => parsePairs(filled(piece, size))),
  )

  test('a signed header that is listed many times is signed once', async () => {
    const source = contentful(contentful.example() as never)
    const sample = await source.sign(source.sample({ now: Date.now() }))
    await expectLinear(1_000, (size) =>
      source.verify(
        {
          ...sample,
          headers: {
            ...sample.headers,
            'x-a': filled('a', size),
            'x-contentful-signed-headers': `${sample.headers['x-contentful-signed-headers']},${filled('x-a,', size)}x-a`,
          },
        },
        { now: Date.now() },
      ),
    )
  })

  test('a glob of many stars takes pattern times text at most', () =>
    expectLinear(2_000, (size) => globMatches(`${'*a'.repeat(20)}*b`, 'a'.repeat(size))))
})

describe('redaction', () => {
  /** The search makes a look-up in a map for each step, so their number is its work. */
  function stepsOf(text: string, values: readonly string[]): number {
    const lookUps = vi.spyOn(Map.prototype, 'get')
    try {
      expect(withoutValues(text, values, true)).not.toBeNull()
      return lookUps.mock.calls.length
    } finally {
      lookUps.mockRestore()
    }
  }

  test.each([
    [
      'thousands of values',
      (n: number) => Array.from({ length: n / 8 }, (_, i) => `${'a'.repeat(i % 5)}${i}`),
    ],
    [
      'values that begin alike',
      (n: number) => Array.from({ length: 100 }, (_, i) => 'a'.repeat(n / 100 + i)),
    ],
    ['values that repeat one letter', (n: number) => ['a'.repeat(n), `${'a'.repeat(n / 2)}b`]],
    [
      'values that end alike',
      (n: number) => Array.from({ length: 100 }, (_, i) => `${i}${'a'.repeat(n / 100)}`),
    ],
  ])('of %s takes a few steps for each character', (_, make) => {
    for (const size of [1_000, 16_000]) {
      const values = make(size)
      const characters = values.join('').length
      for (const text of ['a'.repeat(size), filled('ab', size), filled('aaab0', size)])
        expect(stepsOf(text, values)).toBeLessThan(6 * (text.length + characters))
    }
  })

  test('a message of a megabyte and a thousand values end', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => `private ${'a'.repeat(i % 30)} ${i}`)
    const text = filled(values.slice(0, 500).join(' '), 1_000_000)
    expect(withoutValues(text, values, false)).not.toContain('private')
  })

  test.each(['**', '**.**.iban', '**.*.**', '**.a.**.a'])('of nested objects with the path %s', (path) => {
    const paths = [parsePath(path), parsePath('x.y'), parsePath('**.x')]
    for (const depth of [10, 60, 400]) {
      let reads = 0
      const ownKeys = (of: object) => {
        reads++
        return Reflect.ownKeys(of)
      }
      const counted = (target: object) => new Proxy(target, { ownKeys })
      let payload: object = counted({ iban: 'the private value' })
      for (let i = 0; i < depth; i++) payload = counted({ a: payload })
      expect(valuesAt(payload, paths)).toContain('the private value')
      expect(reads).toBe(depth + 1) // each object once, however many paths there are
    }
  })

  test.each(['Unexpected token ', 'Bearer ', '//a:', 'whsec_', 'xoxb-', '//'])('of an error of %j', (piece) =>
    expectLinear(16_000, (size) => withoutCredentials(filled(piece, size))),
  )
})
