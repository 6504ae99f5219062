/** A JSON value as the rows of a tree: a closed part is one row. */
import { describe, expect, test } from 'vitest'
import { ExactNumber, type Json, parse } from '../../dashboard/src/screens/payload/bytes'
import { findIn, openAll, openAtFirst, rowsOf } from '../../dashboard/src/screens/payload/tree-rows'

/** Indented paths; ▾ is open, ▸ is closed with the number of its children. */
const drawn = (root: Json, open: readonly string[]) =>
  rowsOf(root, (path) => open.includes(path)).map(
    (row) =>
      '  '.repeat(row.level - 1) + (row.size === null ? '' : row.open ? '▾ ' : `▸${row.size} `) + row.path,
  )

const order = { id: 'evt_1', lines: [{ sku: 'a' }, 'b'], 'a key': { '0': null } }

describe('rows', () => {
  test.each<[name: string, root: Json, open: string[], rows: string[]]>([
    ['a value without children', 7, ['$'], ['$']],
    ['a closed object', order, [], ['▸3 $']],
    ['an open object', order, ['$'], ['▾ $', '  $.id', '  ▸2 $.lines', '  ▸1 $["a key"]']],
    [
      'an open list',
      order,
      ['$', '$.lines'],
      ['▾ $', '  $.id', '  ▾ $.lines', '    ▸1 $.lines[0]', '    $.lines[1]', '  ▸1 $["a key"]'],
    ],
    ['an open part of a closed one', order, ['$.lines'], ['▸3 $']],
    ['a key that is a number', order['a key'], ['$'], ['▾ $', '  $["0"]']],
    ['an empty object is never open', {}, ['$'], ['▸0 $']],
    ['an empty list is never open', [], ['$'], ['▸0 $']],
    ['a number with more digits than JavaScript has', new ExactNumber('9007199254740993'), ['$'], ['$']],
  ])('of %s', (_name, root, open, rows) => {
    expect(drawn(root, open)).toEqual(rows)
  })

  test('say their place among their siblings, for screen readers', () => {
    const rows = rowsOf(order, (path) => path === '$')
    expect(rows.map(({ position, siblings }) => `${position} of ${siblings}`)).toEqual([
      '1 of 1',
      '1 of 3',
      '2 of 3',
      '3 of 3',
    ])
  })

  test('of a value that is nested deeper than the stack', () => {
    const depth = 20_000
    let deep: Json = 1
    for (let i = 0; i < depth; i++) deep = [deep]
    expect(rowsOf(deep, () => true)).toHaveLength(depth + 1)
  })
})

describe('the parts that are open at first', () => {
  const list = (length: number): Json => Array.from({ length }, () => ({ a: 1 }))

  test.each<[name: string, root: Json, open: string[]]>([
    ['of a value are none', 'text', []],
    ['of a small value are all', order, ['$', '$.lines', '$["a key"]', '$.lines[0]']],
    ['end at the fourth level', parse('[[[[[1]]]]]')!, ['$', '$[0]', '$[0][0]', '$[0][0][0]']],
    ['are not those that are large', { few: [1], many: list(200) }, ['$', '$.few']],
    ['are the first level only when that one is large', list(121), ['$']],
  ])('%s', (_name, root, open) => {
    expect([...openAtFirst(root)]).toEqual(open)
  })
})

describe('all parts', () => {
  test('are open', () => {
    expect([...openAll(order)].sort()).toEqual(['$', '$.lines', '$.lines[0]', '$["a key"]'].sort())
  })

  test('are open up to a limit', () => {
    const many: Json = Array.from({ length: 50 }, () => [1])
    expect(openAll(many, 10).size).toBe(10)
  })
})

describe('a search', () => {
  const found = (root: Json, text: string) => {
    const { paths, open } = findIn(root, text)
    return [paths, [...open]]
  }
  test.each<[name: string, root: Json, text: string, paths: string[], open: string[]]>([
    ['a name', order, 'SKU', ['$.lines[0].sku'], ['$.lines[0]', '$.lines', '$']],
    [
      'a value, in the order of the tree',
      order,
      'a',
      ['$.lines[0].sku', '$["a key"]'],
      ['$.lines[0]', '$.lines', '$'],
    ],
    ['a number as it was sent', [new ExactNumber('9007199254740993')], '0993', ['$[0]'], ['$']],
    ['no position of an item', ['x', 'y'], '1', [], []],
    ['nothing for nothing', order, '', [], []],
  ])('finds %s', (_name, root, text, paths, open) => {
    expect(found(root, text)).toEqual([paths, open])
  })

  test('ends after a thousand matches, and a value may be nested deeper than the stack', () => {
    expect(findIn(Array(5_000).fill('x'), 'x').paths.length).toBe(1_000)
    expect(findIn(parse(`${'['.repeat(100_000)}7${']'.repeat(100_000)}`)!, '7').paths.length).toBe(1)
  })
})
