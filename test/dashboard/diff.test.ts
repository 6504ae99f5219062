/** The difference of two contents: − of the first, + of the other, = in both. */
import { describe, expect, test } from 'vitest'
import { diffLines, indented } from '../../dashboard/src/screens/payload/diff'

const marks = { same: '=', first: '-', other: '+' }
const letters = (text: string) => [...text]
const diff = (first: string, other: string) =>
  diffLines(letters(first), letters(other))
    .map(({ kind, text }) => marks[kind] + text)
    .join(' ')

describe('the difference of lines', () => {
  test.each([
    ['', '', ''],
    ['abc', 'abc', '=a =b =c'],
    ['abc', 'axc', '=a -b +x =c'],
    ['abc', 'ac', '=a -b =c'],
    ['ac', 'abc', '=a +b =c'],
    ['abc', '', '-a -b -c'],
    ['', 'abc', '+a +b +c'],
    ['abc', 'xyz', '-a -b -c +x +y +z'],
    ['aa', 'aaa', '=a =a +a'],
    ['aaa', 'aa', '=a =a -a'],
    ['xaybz', 'aqb', '-x =a -y +q =b -z'],
  ])('of %j and %j is %j', (first, other, expected) => {
    expect(diff(first, other)).toBe(expected)
  })

  test('contains every line of both texts in their order', () => {
    const lines = diffLines(letters('kitten sat'), letters('sitting at'))
    const without = (kind: string) => lines.filter((line) => line.kind !== kind).map(({ text }) => text)
    expect(without('other').join('')).toBe('kitten sat')
    expect(without('first').join('')).toBe('sitting at')
  })

  test('of very long texts is shown as replaced between the lines that are equal', () => {
    const many = (word: string) => Array.from({ length: 2_001 }, (_, i) => (i % 2 ? 'both' : `${word} ${i}`))
    const lines = diffLines(['start', ...many('a'), 'end'], ['start', ...many('b'), 'end'])
    const kinds = lines.map(({ kind }) => kind)
    expect(kinds.slice(0, 2)).toEqual(['same', 'first'])
    expect(kinds.slice(2_001, 2_003)).toEqual(['first', 'other'])
    expect(kinds.at(-1)).toBe('same')
    expect(lines).toHaveLength(2 + 2 * 2_001)
  })
})

describe('JSON with one value in a line', () => {
  test.each([
    ['{}', '{}'],
    ['[ ]', '[]'],
    ['{"a":1,"b":[true,null]}', '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ]\n}'],
    ['{"a":{}}', '{\n  "a": {}\n}'],
    ['"a{b}[c],:\\" d"', '"a{b}[c],:\\" d"'],
    ['[9007199254740993,1.0,1e2]', '[\n  9007199254740993,\n  1.0,\n  1e2\n]'],
    ['{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
  ])('%s', (json, text) => {
    expect(indented(json)).toBe(text)
    expect(indented(text)).toBe(text)
  })

  test('is not indented further after forty levels', () => {
    const deep = indented(`${'['.repeat(60)}1${']'.repeat(60)}`)
    expect(Math.max(...deep.split('\n').map((line) => line.search(/\S/)))).toBe(80)
  })
})
