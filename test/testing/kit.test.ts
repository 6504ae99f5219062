import { permanent } from 'hookonce'
import type { PostgresTx } from 'hookonce/postgres'
import { paypal, sendgrid, stripe, unverified } from 'hookonce/providers'
import type { SqliteTx } from 'hookonce/sqlite'
import {
  assertSucceeded,
  type CrashStep,
  type HookonceMatchers,
  matchers,
  type TestInbox,
  testInbox,
  testSource,
} from 'hookonce/testing'
import { afterEach, describe, expect, inject, test } from 'vitest'

declare module 'vitest' {
  interface Matchers<T> extends HookonceMatchers<T> {}
}
expect.extend(matchers)

const secret = 'whsec_0123456789abcdef'
const invoice = { data: { object: { id: 'in_1', object: 'invoice' } } }
const opened: TestInbox[] = []
afterEach(async () => {
  for (const inbox of opened.splice(0)) await inbox.stop()
})

async function open(options: Omit<Parameters<typeof testInbox>[0], 'sources'>): Promise<TestInbox> {
  const made = await testInbox({ sources: { stripe: stripe({ secret }) }, ...options })
  opened.push(made)
  return made
}

describe.each([
  ['SQLite', () => 'sqlite::memory:', 'insert into paid (invoice) values (?)'],
  ['PostgreSQL', () => inject('postgresUrl'), 'insert into paid (invoice) values ($1)'],
])('on %s', (kind, url, insert) => {
  let effects = 0
  const handlers = (inbox: TestInbox['inbox']) =>
    inbox.on('stripe', 'invoice.paid', async (event, ctx) => {
      await ctx.once('mail', () => ++effects)
      if (kind === 'SQLite') await (ctx.tx as SqliteTx).run(insert, [event.reference])
      else await (ctx.tx as PostgresTx).query(insert, [event.reference])
    })

  async function withTable(): Promise<TestInbox> {
    effects = 0
    const t = await open({ store: url(), handlers })
    await t.sql('drop table if exists paid')
    await t.sql('create table paid (invoice text)')
    return t
  }

  test('a handler runs once for an event that is delivered twice, or many times at once', async () => {
    const t = await withTable()
    const [first, second] = await t.deliverTwice('stripe', 'invoice.paid', invoice)
    expect(first).toHaveSucceeded()
    expect(first).not.toBeDuplicate()
    expect(second).toBeDuplicate()
    const many = await t.deliverConcurrently(8, 'stripe', 'invoice.paid', invoice)
    expect(many.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect(await t.sql('select invoice from paid')).toEqual([{ invoice: 'in_1' }, { invoice: 'in_1' }])
  })

  test.each<[CrashStep, number]>([
    ['claim', 1],
    ['effect', 2],
    ['handle', 1],
  ])('a crash at %s leaves the event to another attempt', async (step, mails) => {
    const t = await withTable()
    t.crashAt(step)
    const crashed = await t.deliver('stripe', 'invoice.paid', invoice)
    expect(crashed).toMatchObject({ status: 'accepted', state: 'processing' })
    expect(await t.sql('select * from paid')).toEqual([])
    expect(await t.drain()).toBe(0)
    expect(await t.advance('1m')).toBe(1)
    expect(await t.look(crashed)).toHaveSucceeded()
    expect(effects).toBe(mails)
    expect(await t.sql('select * from paid')).toHaveLength(1)
  })

  test('a crash at settle happens after the commit: there is no other attempt', async () => {
    const t = await withTable()
    t.crashAt('settle')
    const delivered = await t.deliver('stripe', 'invoice.paid', invoice)
    expect(await t.advance('1h')).toBe(0)
    expect(await t.look(delivered)).toHaveSucceeded()
    expect(await t.sql('select * from paid')).toHaveLength(1)
  })

  test('a crash at record makes the sender deliver again, and that is a duplicate', async () => {
    const t = await withTable()
    t.crashAt('record')
    const [first, second] = await t.deliverTwice('stripe', 'invoice.paid', invoice)
    expect(first).toBeAnsweredWith(503)
    expect(second).toBeDuplicate()
    expect(await t.sql('select * from paid')).toHaveLength(1)
  })

  test('retries come with the time', async () => {
    let calls = 0
    const t = await open({
      store: url(),
      handlers: (inbox: TestInbox['inbox']) =>
        inbox.on('stripe', '*', () => {
          if (++calls < 3) throw new Error('the bank is closed')
        }),
    })
    const delivered = await t.deliver('stripe', 'invoice.paid')
    expect(delivered).toHaveFailed('the bank is closed')
    await t.advance('1h')
    await t.advance('1h')
    expect(await t.look(delivered)).toHaveSucceeded()
    expect(calls).toBe(3)
  })
})

test('an event that is only recorded waits for drain', async () => {
  const t = await open({ handlers: (inbox: TestInbox['inbox']) => inbox.on('stripe', '*', () => {}) })
  const delivered = await t.deliver('stripe', 'invoice.paid', undefined, { run: false, id: 'evt_7' })
  expect(delivered).toMatchObject({ state: 'pending', eventId: 'evt_7' })
  expect(await t.drain()).toBe(1)
  expect(await t.look({ source: 'stripe', id: 'evt_7' })).toHaveSucceeded()
})

test('matchers and assertions say what was found', async () => {
  const t = await open({
    handlers: (inbox: TestInbox['inbox']) =>
      inbox
        .on('stripe', 'invoice.paid', () => {
          throw permanent('no such order')
        })
        .on('stripe', 'charge.*', (_event, ctx) => ctx.ignore('not ours')),
  })
  const failed = await t.deliver('stripe', 'invoice.paid')
  expect(failed).toHaveFailed(/no such order/)
  expect(await t.deliver('stripe', 'charge.refunded')).toBeIgnored('not ours')
  expect(await t.deliver('stripe', 'payout.paid')).toBeIgnored('unhandled')
  const found =
    'Found: answered with 200 accepted, state failed, 1 attempt, no duplicate, error: no such order.'
  expect(() => expect(failed).toHaveSucceeded()).toThrow(`Expected the delivery to have succeeded. ${found}`)
  expect(() => assertSucceeded(failed)).toThrow(found)
})

test('a mistake in the test is named', async () => {
  const t = await open({})
  await expect(t.deliver('strpe')).rejects.toThrow(
    'deliver("strpe") names no source of this inbox; it has "stripe"',
  )
  await expect(t.deliver('stripe', 'invoice.paid', { type: 'other' })).rejects.toThrow(
    'has a body of type "other"',
  )
  await expect(t.advance('soon' as never)).rejects.toThrow('advance(duration) must be such as')
  expect(() => t.crashAt('lunch' as never)).toThrow('must be one of record, claim, effect, handle, settle')
  t.crashAt('claim')
  await expect(t.stop()).rejects.toThrow('crashAt("claim") was never reached')
  opened.splice(0)
})

test('senders with key pairs, forms, lists and no signature can be tested too', async () => {
  const seen: string[] = []
  const t = await testInbox({
    sources: {
      paypal: testSource(paypal, { webhookId: 'W1' } as never),
      sendgrid: testSource(sendgrid),
      own: unverified({ id: 'json:id', type: 'json:kind' }),
    },
    handlers(inbox) {
      for (const source of ['paypal', 'sendgrid', 'own'])
        inbox.on(
          source,
          '*',
          (event: { source: string; type: string }) => void seen.push(`${event.source} ${event.type}`),
        )
    },
  })
  opened.push(t)
  expect(await t.deliver('paypal', 'PAYMENT.CAPTURE.COMPLETED')).toHaveSucceeded()
  expect(await t.deliver('sendgrid', 'delivered', { email: 'a@example.com' })).toHaveSucceeded()
  expect(await t.deliver('own', 'stock.low', { sku: 7 })).toHaveSucceeded()
  expect(seen).toEqual(['paypal PAYMENT.CAPTURE.COMPLETED', 'sendgrid delivered', 'own stock.low'])
})
