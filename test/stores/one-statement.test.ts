/**
 * node-postgres 9 removes the queue of a client. On a pool of the application, which has no pipeline, the store never
 * sends a statement while another one runs on the same connection. The client here refuses it, as version 9 will.
 */

import { asClient, type PostgresTx, postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migratedDatabase, type TestDatabase } from '../support/database.js'
import { loggedInbox } from '../support/inboxes.js'
import { ids, postAll, quickRetry, shop, signal, until } from '../support/processing.js'

const refused: string[] = []
const warnings: string[] = []
const note = (warning: Error) => void warnings.push(warning.message)
process.on('warning', note)
afterAll(() => void process.off('warning', note))

class StrictClient extends pg.Client {
  #running: string | null = null

  // biome-ignore lint/suspicious/noExplicitAny: the overloads of the driver
  override query(...args: any[]): any {
    const [query] = args
    const text = String(query?.text ?? query)
    const isPipelined = (this as { pipeline?: boolean }).pipeline === true
    if (this.#running !== null && !isPipelined) {
      refused.push(`${text} while ${this.#running}`)
      throw new Error('The client is already executing a query.')
    }
    this.#running = text
    const over = () => {
      this.#running = null
    }
    const answer: unknown = super.query(...(args as [never]))
    if (answer instanceof Promise) answer.then(over, over)
    else this.once('drain', over)
    return answer
  }
}

let database: TestDatabase
let pool: pg.Pool
let store: CompleteStore<PostgresTx>

beforeEach(async () => {
  refused.length = 0
  warnings.length = 0
  database = await migratedDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 3, Client: StrictClient } as pg.PoolConfig)
  pool.on('error', () => {})
  store = postgres({ pool, schema: 'log' })
})
afterEach(async () => {
  await store.close()
  await pool.end()
  await database.drop()
  expect({ refused, warnings: warnings.filter((text) => /client\.query/.test(text)) }).toEqual({
    refused: [],
    warnings: [],
  })
})

const insert = 'insert into log_user.effects (value) values ($1)'
const effects = async (): Promise<string[]> =>
  (await pool.query('select value from log_user.effects order by value')).rows.map(({ value }) => value)

describe('a transaction on a pool of the application', () => {
  test('statements that the handler does not await run in their order, before the commit', async () => {
    const { tx, commit } = await store.transaction()
    const sent = ids(5).map((id) => tx.query(insert, [id]))
    sent.push(tx.query('select array_agg(value order by ctid) as seen from log_user.effects'))
    const last = sent.at(-1)!
    await Promise.all([commit(), ...sent])
    expect((await last).rows).toEqual([{ seen: ids(5) }])
    expect(await effects()).toEqual(ids(5))
  })

  test('a rollback waits for the statement that runs, and the ones behind it are not sent', async () => {
    const { tx, rollback } = await store.transaction()
    const running = tx.query(insert, ['e0'])
    const behind = ids(3, 'late').map((id) => tx.query(insert, [id]))
    const outcomes = Promise.allSettled([running, ...behind])
    await rollback()
    const [first, ...others] = await outcomes
    // The statement that runs is `begin` or the insert; the rollback never stands between two of the handler.
    if (first!.status === 'rejected') expect(first!.reason).toMatchObject({ code: 'TRANSACTION_CLOSED' })
    for (const other of others)
      expect(other).toMatchObject({ status: 'rejected', reason: { code: 'TRANSACTION_CLOSED' } })
    expect(await effects()).toEqual([])
  })

  test('a rollback while a statement takes long cancels it', async () => {
    const { tx, rollback } = await store.transaction()
    await tx.query('select 1')
    const running = tx.query('select pg_sleep(60)').then(
      () => 'ended',
      () => 'cancelled',
    )
    await rollback()
    expect(await running).toBe('cancelled')
    const open = async () =>
      (
        await pool.query(
          "select count(*)::int as n from pg_stat_activity where state = 'idle in transaction' and datname = current_database()",
        )
      ).rows
    await expect.poll(open).toEqual([{ n: 0 }])
  })

  test('a statement after the commit was asked for is refused', async () => {
    const { tx, commit } = await store.transaction()
    await tx.query(insert, ['e0'])
    const committed = commit()
    expect(() => tx.query(insert, ['late'])).toThrow(expect.objectContaining({ code: 'TRANSACTION_CLOSED' }))
    await committed
    expect(await effects()).toEqual(['e0'])
  })

  test('callbacks and query objects take their turn', async () => {
    const { tx, commit } = await store.transaction()
    const client = tx as pg.ClientBase
    const called = signal()
    const first = client.query(insert, ['e0'])
    expect(client.query(insert, ['e1'], () => called.give())).toBeUndefined()
    const rows: unknown[] = []
    const object = new pg.Query('select value from log_user.effects order by value')
    const ended = new Promise((resolve, reject) => {
      object.on('row', (row: { value: string }) => rows.push(row.value))
      object.on('end', resolve)
      object.on('error', reject)
    })
    expect(client.query(object)).toBe(object)
    const broken = new Promise<Error>((resolve) =>
      client.query('select no_such_column', (e: Error) => resolve(e)),
    )
    await Promise.all([first, called.wait, ended])
    expect(rows).toEqual(['e0', 'e1'])
    expect((await broken).message).toMatch(/no_such_column/)
    await expect(commit()).rejects.toMatchObject({ code: 'TRANSACTION_ABORTED' })
  })

  test('a statement that waits when the connection breaks fails', async () => {
    const { tx, rollback } = await store.transaction()
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    const outcomes = Promise.allSettled([
      tx.query('select pg_sleep(60)'),
      tx.query(insert, ['e0']),
      new Promise((resolve, reject) =>
        (tx as pg.ClientBase).query(insert, ['e1'], (error: Error) => (error ? reject(error) : resolve(0))),
      ),
    ])
    await pool.query('select pg_terminate_backend($1)', [rows[0].pid])
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await rollback()
    expect(await effects()).toEqual([])
  })
})

test('intake, handlers with floating statements, effects, retries and maintenance', async () => {
  const { inbox } = loggedInbox({
    store,
    sources: { shop: shop({ order: 'reference' }) },
    processing: { retry: quickRetry, poll: 50 },
  })
  inbox.on('shop', '*', async (event, ctx) => {
    const tx = ctx.tx as PostgresTx
    void tx.query(insert, [event.id])
    void asClient(tx).query('select 1')
    await ctx.once('mail', () => 'sent')
    if (ctx.attempt === 1 && event.id === 'e3') throw new Error('try again')
  })
  await inbox.start()
  await postAll(
    inbox,
    ids(20).map((id, i) => ({ id, ref: i % 2 ? 'a' : id })),
  )
  await until(async () => (await effects()).length === 20, 'every event is handled')
  await store.retention!.maintain({ payloadsBefore: {} })
  expect((await store.list({}, { limit: 50 })).events.length).toBe(20)
  await inbox.stop()
})
