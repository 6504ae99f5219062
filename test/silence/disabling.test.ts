/** What the catalogue says of senders that disable an endpoint. The texts become parts of sentences. */
import { catalogue } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { causeOf } from '#dist/silence/causes.js'

const disabling = Object.values(catalogue).flatMap(({ key, definition: { name, disables } }) =>
  disables ? [{ key, name, disables }] : [],
)

test('many senders are known to disable an endpoint that fails', () => {
  expect(disabling.map(({ key }) => key)).toEqual(
    expect.arrayContaining(['stripe', 'shopify', 'slack', 'zoom', 'gitlab', 'razorpay', 'polar']),
  )
})

test.for(disabling)('$key: says when, where it is switched on again, and who says so', ({ disables }) => {
  expect(disables.when).toMatch(/^[a-z]+s .*[^.]$/)
  expect(disables.again).toMatch(/^[A-Z].*\.$/)
  expect(disables.docs).toMatch(/^https:\/\//)
})

test('an alarm says this of the sender', () => {
  const { name, disables } = disabling.find(({ key }) => key === 'stripe')!
  const silent = causeOf({ name, disables }, new Map())
  expect(silent.todo).toContain(`${name} ${disables.when}. ${disables.again}`)
  const rejected = causeOf({ name, disables }, new Map([['bad_signature', 3]]))
  expect(rejected.text).toBe('since then 3 rejected as bad_signature: the secret has probably changed.')
  expect(rejected.todo).toContain(disables.when)
})
