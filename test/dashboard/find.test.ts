/** What is offered to somebody who looks for an event. */
import { describe, expect, test } from 'vitest'
import { suggestionsFor } from '../../dashboard/src/app/suggestions'
import { siblingsOf } from '../../dashboard/src/screens/event/siblings'
import { isAboutReasons, patternOf, textOf } from '../../dashboard/src/screens/events/filters'
import { verbAt } from '../../dashboard/src/ui/type-name'
import { eventWith } from './support'

const sources = [
  { source: 'shop', types: ['order.paid', 'order.shipped'], more: false },
  { source: 'stripe', types: ['order.paid', 'invoice.paid'], more: false },
]
const keys = (...given: Parameters<typeof suggestionsFor>) => suggestionsFor(...given).map(({ key }) => key)

describe('suggestions', () => {
  test('are references, events, types and sources, and then the payloads', () => {
    const event = eventWith({ id: 'evt_1', reference: 'shop_7' })
    expect(keys('shop', [{ by: 'reference', event }], sources, true)).toEqual([
      'reference shop_7',
      'event shop evt_1',
      'source shop',
      'payloads',
    ])
    expect(keys('PAID', [], sources, true)).toEqual(['type order.paid', 'type invoice.paid', 'payloads'])
  })

  test('have no search in payloads for somebody who may not read them', () => {
    expect(keys('order.s', [], sources, false)).toEqual(['type order.shipped'])
  })
})

test.each([
  ['customer.subscription.deleted', '.deleted'],
  ['orders/create', '/create'],
  ['pull_request', '_request'],
  ['push', 'push'],
  ['ends.', 'ends.'],
  ['.begins', '.begins'],
])('the last part of the type %s is %s', (type, verb) => {
  expect(type.slice(verbAt(type))).toBe(verb)
})

test('a text becomes a pattern that contains it, a pattern stays, and both come back as they were typed', () => {
  const typed = ['timeout', 'card * declined', '*ends', '']
  expect(typed.map(patternOf)).toEqual(['*timeout*', 'card * declined', '*ends', undefined])
  expect(typed.map((text) => textOf(patternOf(text)))).toEqual(typed)
})

test.each([
  [{ state: 'failed' }, true],
  [{ state: 'ignored' }, true],
  [{ dead: 'true' }, true],
  [{ reasonLike: '*x*' }, true],
  [{ state: 'succeeded' }, false],
  [{}, false],
] as const)('a list of %j is about reasons: %s', (search, expected) => {
  expect(isAboutReasons(search)).toBe(expected)
})

test('siblings are the consumers of the same source, and not the same id at another one', () => {
  const found = ['shop/mail', 'shop', 'bank', 'shopping'].map((source) => eventWith({ source }))
  for (const own of ['shop', 'shop/mail'])
    expect(siblingsOf(eventWith({ source: own }), found).map(({ source }) => source)).toEqual([
      'shop',
      'shop/mail',
    ])
})
