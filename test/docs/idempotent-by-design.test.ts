/**
 * Runs the code of docs/idempotent-by-design.md on PostgreSQL: what the page calls wrong fails, what it calls right holds.
 * A block is named by the comment before it: `<!-- case: balances wrong -->`.
 */
import { readFile } from 'node:fs/promises'
import { transform } from 'esbuild'
import { unverified } from 'hookonce/providers'
import { type TestInbox, testInbox } from 'hookonce/testing'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'

const page = await readFile(new URL('../../docs/idempotent-by-design.md', import.meta.url), 'utf8')
const blocks = new Map(
  [...page.matchAll(/<!-- case: (\w+ \w+) -->\n(?:<!-- given: .* -->\n|\n)*```ts\n([\s\S]*?)^```/gm)].map(
    ([, name = '', code = '']) => [name, code] as const,
  ),
)

let database: TestDatabase
let pool: pg.Pool
let t: TestInbox
let stop: () => Promise<void>
/** A mail service that knows idempotency keys. */
let sent: string[]
let requests: number
const keys = new Set<string>()
const mail = {
  async send(to: string, options?: { idempotencyKey: string }) {
    requests++
    if (!options || !keys.has(options.idempotencyKey)) sent.push(to)
    if (options) keys.add(options.idempotencyKey)
    return { id: `mail_${sent.length}` }
  },
}

beforeEach(async () => {
  stop = async () => {}
  sent = []
  requests = 0
  keys.clear()
  database = await freshDatabase()
  pool = new pg.Pool({ connectionString: database.url })
  pool.on('error', () => {})
  await pool.query(`
    create table accounts (id text primary key, balance int not null default 0);
    insert into accounts (id) values ('a1');
    create table ledger (payment text primary key, account text not null, cents int not null);
    create table customers (sender_id text not null, email text not null);
    create table orders (id text primary key, status text not null);
    insert into orders values ('o1', 'created');
    create table months (key text primary key)`)
})
afterEach(async () => {
  await stop()
  await pool.end()
  await database.drop()
})

/** An inbox with the handlers of one block. */
async function withCode(name: string): Promise<void> {
  const source = blocks.get(name)
  if (source === undefined) throw new Error(`the page has no code for "${name}"`)
  const { code } = await transform(source, { loader: 'ts' })
  const register = new Function('inbox', 'pool', 'mail', code)
  t = await testInbox({
    store: database.url,
    sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
    handlers: (inbox) => register(inbox, pool, mail),
  })
  stop = () => t.stop()
}

const deliver = (id: string, type: string, fields: object) => t.deliver('shop', type, { ...fields, id, type })
const one = async (sql: string) => Object.values((await pool.query(sql)).rows[0])[0]
const balance = () => one("select balance from accounts where id = 'a1'")
const payment = { payment: 'pay_1', account: 'a1', cents: 1000 }

test('every block of the page is run by a test of this file', () => {
  expect([...blocks.keys()].sort()).toEqual(
    [
      ...['balances', 'records', 'status', 'keys', 'notifications'].flatMap((each) => [
        `${each} right`,
        `${each} wrong`,
      ]),
      'together wrong',
    ].sort(),
  )
})

test.for([
  ['balances wrong', 2000],
  ['balances right', 1000],
] as const)('%s: a crash before the commit leaves %d cents', async ([name, cents]) => {
  await withCode(name)
  t.crashAt('handle')
  const crashed = await deliver('e1', 'payment.captured', payment)
  await t.advance('1m')
  expect(await t.look(crashed)).toMatchObject({ state: 'succeeded' })
  expect(await balance()).toBe(cents)
})

test.for([
  ['together wrong', 2000, 3000],
  ['balances right', 1000, 1000],
] as const)('%s: two events about one payment, and a replay', async ([name, afterBoth, afterReplay]) => {
  await withCode(name)
  await t.deliverConcurrently(5, 'shop', 'payment.captured', {
    ...payment,
    id: 'e1',
    type: 'payment.captured',
  })
  expect(await balance()).toBe(1000)
  await deliver('e2', 'payment.captured', payment)
  expect(await balance()).toBe(afterBoth)
  await t.inbox.replay({ source: 'shop', id: 'e1' }, { force: true })
  await t.drain()
  expect(await balance()).toBe(afterReplay)
})

test.for([
  ['records wrong', 2],
  ['records right', 1],
] as const)('%s: two events about one customer at the same time make %d records', async ([name, records]) => {
  await withCode(name)
  if (name === 'records right') await pool.query('create unique index on customers (sender_id)')
  const fields = { customer: 'cus_1', email: 'a@example.com' }
  for (const type of ['customer.created', 'customer.updated'])
    await t.deliver('shop', type, { ...fields, id: type, type }, { run: false })
  // While this lock is held a handler can look and cannot insert, so both have looked when the first inserts.
  const blocker = await pool.connect()
  await blocker.query('begin; lock table customers in share mode')
  const drained = t.drain()
  await expect
    .poll(() =>
      one("select count(*)::int from pg_locks where relation = 'customers'::regclass and not granted"),
    )
    .toBe(2)
  await blocker.query('commit')
  blocker.release()
  await drained
  expect(await one('select count(*)::int from customers')).toBe(records)
})

test.for([
  ['status wrong', 'paid'],
  ['status right', 'shipped'],
] as const)('%s: after a late event the order is %s', async ([name, status]) => {
  await withCode(name)
  await deliver('e1', 'order.shipped', { order: 'o1' })
  await deliver('e2', 'order.paid', { order: 'o1' })
  expect(await one("select status from orders where id = 'o1'")).toBe(status)
})

test.for([
  ['keys wrong', 1],
  ['keys right', 2],
] as const)('%s: two renewals, the second reported by two events, are %d months', async ([name, months]) => {
  await withCode(name)
  for (const [id, invoice] of [
    ['e1', 'in_1'],
    ['e2', 'in_2'],
    ['e3', 'in_2'],
  ] as const)
    await deliver(id, 'subscription.renewed', { subscription: 'sub_1', invoice })
  expect(await one('select count(*)::int from months')).toBe(months)
})

test.for([
  ['notifications wrong', 'handle', 2, 2],
  ['notifications right', 'handle', 1, 1],
  ['notifications right', 'effect', 2, 1],
] as const)('%s: a crash at "%s" makes %d requests and %d mails', async ([name, step, asked, mails]) => {
  await withCode(name)
  t.crashAt(step)
  const crashed = await deliver('e1', 'order.paid', { order: 'o1', email: 'a@example.com' })
  await t.advance('1m')
  expect(await t.look(crashed)).toMatchObject({ state: 'succeeded' })
  expect([requests, sent.length]).toEqual([asked, mails])
  expect(await one("select status from orders where id = 'o1'")).toBe('paid')
})
