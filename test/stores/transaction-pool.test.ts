/** A transaction that begins on the connection of another one, whose commit is under way. */

import { postgres } from 'hookonce/postgres'
import type { Lease } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { delivery } from '../support/delivery.js'
import { postgresLog, type SharedLog } from '../support/logs.js'

type Store = ReturnType<typeof postgres>

let log: SharedLog
let store: Store
/** Another client of the database. */
let other: pg.Client

async function open(maxTransactions: number): Promise<Lease[]> {
  store = postgres({ url: log.args[1]!, schema: log.args[2]!, maxTransactions })
  await store.record(['a', 'b', 'c'].map((id) => delivery(id)))
  const claimed = await store.claim({ worker: 'w', limit: 3, leaseMs: 60_000 })
  return claimed.sort((x, y) => (x.id < y.id ? -1 : 1)).map(({ lease }) => lease)
}

beforeEach(async () => {
  log = await postgresLog()
  other = new pg.Client({ connectionString: log.args[1]! })
  other.on('error', () => {}) // the database is dropped
  await other.connect()
})
afterEach(async () => {
  await store.close()
  await other.end()
  await log.remove()
})

const succeeded = (lease: Lease) => [{ lease, outcome: { kind: 'succeeded' }, durationMs: 1 }] as const
const statesOf = async () =>
  Promise.all(
    ['a', 'b', 'c'].map(async (eventId) => (await store.get({ source: 'shop', id: eventId }))!.state),
  )
type Transaction = Awaited<ReturnType<Store['transaction']>>
const processOf = async ({ tx }: Transaction): Promise<number> =>
  (await tx.query('select pg_catalog.pg_backend_pid() as pid')).rows[0].pid

/** Sends the commit. The result is not awaited. */
async function commitSent(transaction: Transaction, lease: Lease) {
  let isSent = false
  const finished = transaction.finish(succeeded(lease), () => {
    isSent = true
  })
  finished.catch(() => {})
  expect(isSent).toBe(true)
  return { finished }
}

/** Keeps every settlement of this event waiting until the returned function is called. */
async function holdBack({ seq }: Lease): Promise<() => Promise<void>> {
  await other.query('begin')
  await other.query(`select 1 from ${log.args[2]}.work where seq = $1 for update`, [seq])
  return async () => void (await other.query('rollback'))
}

test('a transaction begins behind a commit, on its connection, and sees its effects', async () => {
  const [a, b] = await open(2)
  const first = await store.transaction()
  await first.tx.query(log.insertEffect, ['a'])
  const pid = await processOf(first)
  const { finished } = await commitSent(first, a!)

  const second = await store.transaction()
  const seen = await second.tx.query(log.insertEffect.replace(/insert into (\S+).*/, 'select value from $1'))
  expect(seen.rows).toEqual([{ value: 'a' }])
  expect(await processOf(second)).toBe(pid)
  await second.tx.query(log.insertEffect, ['b'])
  expect(await finished).toBe(true)
  expect(await second.finish(succeeded(b!))).toBe(true)

  expect((await log.effects()).sort()).toEqual(['a', 'b'])
  expect(await statesOf()).toEqual(['succeeded', 'succeeded', 'processing'])
})

test('an expired lease rolls back its own transaction, and not the one behind it', async () => {
  const [a, b] = await open(1)
  const first = await store.transaction()
  await first.tx.query(log.insertEffect, ['a'])
  const { finished } = await commitSent(first, { seq: a!.seq, token: b!.token })
  const second = await store.transaction()
  await second.tx.query(log.insertEffect, ['b'])
  expect(await finished).toBe(false)
  await first.rollback()
  await second.tx.query(log.insertEffect, ['b too'])
  expect(await second.finish(succeeded(b!))).toBe(true)

  expect((await log.effects()).sort()).toEqual(['b', 'b too'])
  expect(await statesOf()).toEqual(['processing', 'succeeded', 'processing'])
})

test('a commit that fails leaves the transaction behind it alone', async () => {
  const [a, b] = await open(1)
  await other.query('create table public.once (id int unique deferrable initially deferred)')
  const first = await store.transaction()
  await first.tx.query('insert into public.once values (1), (1)')
  const { finished } = await commitSent(first, a!)
  const second = await store.transaction()
  await second.tx.query(log.insertEffect, ['b'])
  await expect(finished).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await first.rollback()
  expect(await second.finish(succeeded(b!))).toBe(true)

  expect(await log.effects()).toEqual(['b'])
  expect(await statesOf()).toEqual(['processing', 'succeeded', 'processing'])
})

test('a connection that breaks fails both transactions, and nothing of the second one stays', async () => {
  const [a, b] = await open(1)
  const first = await store.transaction()
  await first.tx.query(log.insertEffect, ['a'])
  const pid = await processOf(first)
  const release = await holdBack(a!)
  const { finished } = await commitSent(first, a!)
  const second = await store.transaction()
  const inserted = second.tx.query(log.insertEffect, ['b'])
  inserted.catch(() => {})
  await other.query('select pg_catalog.pg_terminate_backend($1)', [pid])
  await expect(finished).rejects.toMatchObject({ code: 'COMMIT_UNKNOWN' })
  await expect(inserted).rejects.toThrow()
  await second.rollback()
  await release()

  const third = await store.transaction()
  await third.tx.query(log.insertEffect, ['b again'])
  expect(await third.finish(succeeded(b!))).toBe(true)
  expect(await log.effects()).toEqual(['b again'])
  expect(await statesOf()).toEqual(['processing', 'succeeded', 'processing'])
})

test('nothing begins behind a commit that takes long', async () => {
  const [a, b] = await open(2)
  const first = await store.transaction()
  const pid = await processOf(first)
  const release = await holdBack(a!)
  const { finished } = await commitSent(first, a!)
  await new Promise((resolve) => setTimeout(resolve, 300))
  const second = await store.transaction()
  expect(await processOf(second)).not.toBe(pid)
  expect(await second.finish(succeeded(b!))).toBe(true)
  await release()
  expect(await finished).toBe(true)
})

test('a commit under way goes to the transaction that has waited longest', async () => {
  const [a, b, c] = await open(1)
  const order: string[] = []
  async function run(value: string, lease: Lease) {
    const transaction = await store.transaction()
    order.push(value)
    await transaction.tx.query(log.insertEffect, [value])
    expect(await transaction.finish(succeeded(lease))).toBe(true)
  }
  await Promise.all([run('a', a!), run('b', b!), run('c', c!)])
  expect(order).toEqual(['a', 'b', 'c'])
  expect((await log.effects()).sort()).toEqual(['a', 'b', 'c'])
  expect(await statesOf()).toEqual(['succeeded', 'succeeded', 'succeeded'])
})

test('all connections can be taken at once, also when none is open yet', async () => {
  const [a] = await open(4)
  const all = await Promise.all([1, 2, 3, 4].map(() => store.transaction()))
  const processes = new Set(await Promise.all(all.map(processOf)))
  expect(processes.size).toBe(4)
  let isFifthGiven = false
  const fifth = store.transaction().then((transaction) => {
    isFifthGiven = true
    return transaction
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(isFifthGiven).toBe(false)
  await all[0]!.rollback()
  expect(await (await fifth).finish(succeeded(a!))).toBe(true)
  await Promise.all(all.map((transaction) => transaction.rollback()))
})

test('a store that is closed gives no connection to those that wait', async () => {
  const [a] = await open(1)
  const first = await store.transaction()
  const waiting = store.transaction()
  waiting.catch(() => {})
  const closing = store.close()
  await expect(waiting).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(await first.finish(succeeded(a!))).toBe(true)
  await closing
})
