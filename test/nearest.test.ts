import { expect, test } from 'vitest'
import { hintOf, unknownSource } from '../src/nearest.js'

const many = Array.from({ length: 134 }, (_, i) => `sender${i}`)

test('a misspelt name gets the nearest one, and no list', () => {
  expect(hintOf('strpie', [...many, 'stripe'])).toBe('did you mean "stripe"?')
  expect(unknownSource('strpie', ['stripe', 'github']).message).toBe(
    'There is no source named "strpie" (did you mean "stripe"?).',
  )
})

test('a name that is near to no other gets the list when it is short, and else its beginning', () => {
  expect(hintOf('nobody', ['stripe', 'github'])).toBe('known: stripe, github')
  expect(hintOf('nobody', [])).toBe('known: none')
  expect(hintOf('nobody', many)).toBe(`known: ${many.slice(0, 12).join(', ')} and 122 more`)
})
