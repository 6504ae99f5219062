import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripe } from 'hookonce/providers'
import { assertDuplicate, assertSucceeded, testInbox, testSource } from 'hookonce/testing'
import { handlers } from './handlers.mjs'

test('a paid invoice is booked once', async () => {
  const t = await testInbox({ sources: { stripe: testSource(stripe) }, handlers })
  await t.sql('create table paid (invoice text)')
  const [first, second] = await t.deliverTwice('stripe', 'invoice.paid')
  assertSucceeded(first)
  assertDuplicate(second)
  assert.equal((await t.sql('select * from paid')).length, 1)
  await t.stop()
})
