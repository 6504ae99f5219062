import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonQuery } from '#dist/verification/json.js'
import { isDeeperThan } from '#dist/verification/json-scan.js'
import './support/fixed-seed.js'

const bytes = (text: string) => new TextEncoder().encode(text)

function read(text: string | Uint8Array, ...paths: string[]) {
  const result = jsonQuery(paths).read(typeof text === 'string' ? bytes(text) : text)
  if (!result.ok) return result.reason
  return result.values.map((tokens) => tokens.map((token) => token.text))
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('values', () => {
  test('finds nested values, elements and members', () => {
    const text = '{"a":{"b":[{"c":1},{"c":"x"},{"d":0}]},"m":{"p":{"id":7},"q":{"id":8}}}'
    expect(read(text, 'a.b.1.c', 'a.b[].c', 'm.*.id', 'm.q.id', 'zz')).toEqual([
      ['x'],
      ['1', 'x'],
      ['7', '8'],
      ['8'],
      [],
    ])
  })
  test('keeps every digit of a number', () => {
    for (const number of [
      '9007199254740993',
      '1e400',
      '-0',
      '0.10',
      '12345678901234567890123456789',
      '1E+2',
    ]) {
      expect(read(`{"id": ${number} }`, 'id')).toEqual([[number]])
    }
  })
  test('unescapes strings exactly', () => {
    expect(read('{"id":"a\\u00e9\\n\\"\\\\\\/\\ud83c\\udf89 é"}', 'id')).toEqual([['aé\n"\\/🎉 é']])
    expect(read('{"id":"\\ud800"}', 'id')).toEqual([['\ud800']])
  })
  test('finds a key also when it is escaped', () => {
    expect(read('{"\\u0069d":"x"}', 'id')).toEqual([['x']])
    expect(read('{"é":"x"}', 'é')).toEqual([['x']])
    expect(read('{"a.b":"x"}', 'a\\.b')).toEqual([['x']])
  })
  test('gives the raw bytes of a container', () => {
    const text = bytes(' {"a": [1, {"b": 2}] } ')
    const result = jsonQuery(['a', 'a[]', '']).read(text)
    if (!result.ok) throw new Error(result.reason)
    const slices = result.values.map((tokens) =>
      tokens.map(({ start, end }) => new TextDecoder().decode(text.subarray(start, end))),
    )
    expect(slices).toEqual([['[1, {"b": 2}]'], ['1', '{"b": 2}'], ['{"a": [1, {"b": 2}] }']])
  })
  test('reads names with *', () => {
    const result = jsonQuery(['*', 'update_id']).read(bytes('{"update_id":5,"message":{"x":1}}'))
    expect(result.ok && result.values[0]!.map(({ key }) => key)).toEqual(['update_id', 'message'])
    expect(result.ok && result.values[1]!.map(({ text }) => text)).toEqual(['5'])
  })
})

describe('refusals', () => {
  test('a wanted name that occurs twice is ambiguous, at every step of its path', () => {
    expect(read('{"id":1,"id":2}', 'id')).toBe('ambiguous')
    expect(read('{"id":1,"\\u0069d":1}', 'id')).toBe('ambiguous')
    expect(read('{"data":{},"data":{"id":1}}', 'data.id')).toBe('ambiguous')
    expect(read('{"m":{"p":1,"p":2}}', 'm.*')).toBe('ambiguous')
    expect(read('[{"id":1},{"id":2,"id":3}]', '[].id')).toBe('ambiguous')
  })
  test('a name that is not wanted may occur twice', () => {
    expect(read('{"x":1,"x":2,"id":3}', 'id')).toEqual([['3']])
    expect(read('[{"id":1},{"id":1}]', '[].id')).toEqual([['1', '1']])
  })
  test('bytes that are not UTF-8 are an error only in a wanted value', () => {
    const text = Buffer.concat([bytes('{"x":"'), Buffer.from([0xff]), bytes('","id":"a"}')])
    expect(read(text, 'id')).toEqual([['a']])
    expect(read(text, 'x')).toBe('not_json')
  })
  test('a byte order mark is skipped at the start and an error elsewhere', () => {
    expect(read('\ufeff{"id":1}', 'id')).toEqual([['1']])
    expect(read('{"id":1}\ufeff', 'id')).toBe('not_json')
  })
  test('a million brackets are read about as fast as a flat list of the same length', () => {
    // The fastest of several runs: the machine may be busy during one of them.
    const fastestMs = (text: Buffer) =>
      Math.min(
        ...Array.from({ length: 7 }, () => {
          const start = performance.now()
          expect(read(text, 'id')).toBe('not_json')
          return performance.now() - start
        }),
      )
    const flat = fastestMs(Buffer.from('[1,'.padEnd(1_000_000, '1,')))
    expect(fastestMs(Buffer.alloc(1_000_000, '['))).toBeLessThan(20 * flat)
  })
  test('nesting of any depth is read past, with its grammar checked', () => {
    const nested = (depth: number, inside = '') => '[{"a":'.repeat(depth) + inside + '}]'.repeat(depth)
    expect(read(`{"deep":${nested(100_000, '1')},"id":"x"}`, 'id')).toEqual([['x']])
    for (const wrong of ['', '1,', '1}', '[1', 'tru', '"'])
      expect(read(`{"deep":${nested(1_000, wrong)},"id":"x"}`, 'id'), wrong).toBe('not_json')
  })
  test('the depth of a text is exact, and brackets in strings do not count', () => {
    const nested = (depth: number) => bytes(`["[[[]]]\\"[",${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}]`)
    expect(isDeeperThan(nested(512), 512)).toBe(false)
    expect(isDeeperThan(nested(513), 512)).toBe(true)
  })
})

const document = fc.json({ maxDepth: 6 })
const runs = Number(process.env.HOOKONCE_FUZZ_RUNS ?? 8_000) / 2

describe('against JSON.parse', () => {
  test('accepts what it accepts', () => {
    fc.assert(
      fc.property(document, (text) => {
        expect(jsonQuery(['']).read(bytes(text)).ok).toBe(true)
      }),
      { numRuns: runs / 4 },
    )
  })

  test('accepts and refuses the same mutated documents', () => {
    const alphabet = fc.constantFrom(...'{}[]",:\\/ \n\t0123456789.eE+-truefalsn\u0000\u001fu\u00e9')
    const mutation = fc.record({
      at: fc.nat(),
      remove: fc.nat(2),
      insert: fc.string({ unit: alphabet, maxLength: 2 }),
    })
    fc.assert(
      fc.property(document, fc.array(mutation, { minLength: 1, maxLength: 3 }), (text, mutations) => {
        let mutated = text
        for (const { at, remove, insert } of mutations) {
          const position = at % (mutated.length + 1)
          mutated = mutated.slice(0, position) + insert + mutated.slice(position + remove)
        }
        // A byte order mark or half a surrogate pair does not survive the way through bytes.
        if (!mutated.isWellFormed() || mutated.startsWith('\ufeff')) return
        expect(jsonQuery([]).read(bytes(mutated)).ok, JSON.stringify(mutated)).toBe(parses(mutated))
      }),
      { numRuns: runs },
    )
  })

  test('finds the same values', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean())
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.constantFrom('id', 'a', 'type', 'é'), value, { noNullPrototype: true })),
        fc.nat(3),
        (list, indent) => {
          const text = JSON.stringify({ list, other: list }, null, indent)
          const expected = list.filter((item) => Object.hasOwn(item, 'id')).map((item) => String(item.id))
          const found = read(text, 'list[].id', 'other.0.é')
          expect(found[0]).toEqual(expected)
          const accent = list[0] !== undefined && Object.hasOwn(list[0], 'é') ? [String(list[0].é)] : []
          expect(found[1]).toEqual(accent)
        },
      ),
      { numRuns: runs / 4 },
    )
  })

  test('has the same verdict for every byte string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (raw) => {
        const text = new TextDecoder('utf-8', { ignoreBOM: false }).decode(raw)
        expect(jsonQuery([]).read(raw).ok).toBe(parses(text))
      }),
      { numRuns: runs / 4 },
    )
  })
})
