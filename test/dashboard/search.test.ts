/** Every route has one schema of its search parameters. What it does not allow, no screen sees. */
import { linkOptions } from '@tanstack/react-router'
import { describe, expect, test } from 'vitest'
import { eventsSearch, overviewSearch, parseSearch, stringifySearch } from '../../dashboard/src/app/search'
import {
  bodyOf,
  hasFilter,
  queryOf,
  stateChoice,
  stateFilter,
} from '../../dashboard/src/screens/events/filters'

const kept = (address: string) => JSON.parse(JSON.stringify(eventsSearch(parseSearch(address))))

describe('the overview', () => {
  test.each([
    ['?window=7d', '7d'],
    ['', '24h'],
    ['?window=8d', '24h'],
    ['?window=', '24h'],
  ])('%j shows %s', (address, window) => {
    expect(overviewSearch(parseSearch(address) as never)).toEqual({ window })
  })
})

describe('the events', () => {
  test.each([
    ['a text', '?type=order.*&source=shop&q=evt_1', { type: 'order.*', source: 'shop', q: 'evt_1' }],
    ['an empty text', '?type=&source=shop', { source: 'shop' }],
    [
      'a known word',
      '?state=failed&since=24h&op=gt&live=off',
      { state: 'failed', since: '24h', op: 'gt', live: 'off' },
    ],
    ['an unknown word', '?state=broken&since=2h&op=like&live=on', {}],
    ['a flag', '?dead=true&flagged=false', { dead: 'true', flagged: 'false' }],
    ['another value of a flag', '?dead=1&flagged=yes', {}],
    ['a number', '?minAttempts=5', { minAttempts: 5 }],
    ['another text as a number', '?minAttempts=many', {}],
    ['a number that is no count', '?minAttempts=-1', {}],
    ['a name that no filter has', '?colour=red&source=shop', { source: 'shop' }],
    ['the last of two values', '?source=shop&source=bank', { source: 'bank' }],
  ])('%s: %s', (_name, address, search) => {
    expect(kept(address)).toEqual(search)
  })

  test('a value that is dropped is named, so that it replaces the value in the address', () => {
    expect(Object.keys(eventsSearch({ state: 'broken' }))).toContain('state')
  })

  test('a parsed search can be parsed again', () => {
    const once = eventsSearch(parseSearch('?minAttempts=5&dead=true&since=7d'))
    expect(eventsSearch(once)).toEqual(once)
  })
})

test.each([
  [{}, ''],
  [{ type: undefined, source: '' }, ''],
  [{ source: 'shop', minAttempts: 5 }, '?source=shop&minAttempts=5'],
  [{ q: 'a&b =c' }, '?q=a%26b+%3Dc'],
])('%j becomes the address %j and back', (search, address) => {
  expect(stringifySearch(search)).toBe(address)
  expect(stringifySearch(parseSearch(address))).toBe(address)
})

describe('the filters of the events', () => {
  const now = Date.parse('2026-11-16T10:00:30.000Z')
  const anHourAgo = Date.parse('2026-11-16T09:00:00.000Z')
  const json = (value: object) => JSON.parse(JSON.stringify(value))

  test.each([
    ['a time before now is rounded to its minute', '?since=1h', { from: String(anHourAgo) }],
    [
      'a longer time is rounded by a hundredth',
      '?since=24h',
      { from: String(Date.parse('2026-11-15T09:50:24.000Z')) },
    ],
    ['a start wins over a time before now', '?since=1h&from=2026-01-01', { from: '2026-01-01' }],
    ['the words of a search are no filter', '?q=evt&path=$.id&op=eq&value=1&live=off', {}],
    ['filters stay as they are', '?dead=true&minAttempts=2', { dead: 'true', minAttempts: 2 }],
  ])('query: %s', (_name, address, query) => {
    expect(json(queryOf(eventsSearch(parseSearch(address)), now))).toEqual(query)
  })

  test.each([
    ['no filter is every event until now', '', { to: now }],
    ['flags are booleans', '?dead=true&flagged=false', { dead: true, flagged: false, to: now }],
    ['milliseconds are numbers', '?from=1000&to=2000', { from: 1_000, to: 2_000 }],
    ['dates are texts', '?from=2026-01-01&to=2026-01-02', { from: '2026-01-01', to: '2026-01-02' }],
  ])('body of an action: %s', (_name, address, body) => {
    expect(json(bodyOf(eventsSearch(parseSearch(address)), now))).toEqual(body)
  })

  test.each([
    ['', false],
    ['?live=off', false],
    ['?op=eq&value=1', false],
    ['?q=evt', true],
    ['?path=$.id', true],
    ['?since=1h', true],
    ['?source=shop', true],
    ['?state=broken', false],
  ])('%j has a filter: %s', (address, has) => {
    expect(hasFilter(eventsSearch(parseSearch(address)))).toBe(has)
  })

  test.each(['', 'pending', 'processing', 'succeeded', 'retrying', 'dead', 'ignored'] as const)(
    'the state %j is chosen again from its filter',
    (choice) => {
      expect(stateChoice(stateFilter(choice))).toBe(choice)
    },
  )
})

test('a link to a parameter or a value that its screen does not have does not compile', () => {
  // @ts-expect-error no such filter
  linkOptions({ to: '/events', search: { colour: 'red' } })
  // @ts-expect-error no such state
  linkOptions({ to: '/events', search: { state: 'broken' } })
  // @ts-expect-error the overview has no filter
  linkOptions({ to: '/', search: { source: 'shop' } })
  // @ts-expect-error no search parameters at all
  linkOptions({ to: '/review', search: { source: 'shop' } })
  expect(linkOptions({ to: '/events', search: { state: 'failed', dead: 'true' } }).to).toBe('/events')
})
