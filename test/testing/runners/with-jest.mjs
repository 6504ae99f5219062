// @ts-nocheck: jest's types are extended as docs/testing.md shows for vitest
import { expect, test } from '@jest/globals'
import { stripe } from 'hookonce/providers'
import { matchers, testInbox, testSource } from 'hookonce/testing'
import { handlers } from './handlers.mjs'

expect.extend(matchers)

test('a paid invoice is booked once', async () => {
  const t = await testInbox({ sources: { stripe: testSource(stripe) }, handlers })
  await t.sql('create table paid (invoice text)')
  const [first, second] = await t.deliverTwice('stripe', 'invoice.paid')
  expect(first).toHaveSucceeded()
  expect(second).toBeDuplicate()
  expect(await t.sql('select * from paid')).toHaveLength(1)
  await t.stop()
})
