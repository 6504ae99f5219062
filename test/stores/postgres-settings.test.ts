/** A database whose defaults differ from those of PostgreSQL: nothing of the store depends on them. */

import { postgres } from 'hookonce/postgres'
import type { CompleteStore } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { delivery } from '../support/delivery.js'
import { startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.js'

const defaults = {
  datestyle: "'SQL, DMY'",
  intervalstyle: 'sql_standard',
  timezone: "'Asia/Kolkata'",
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  client_encoding: 'latin1',
  default_transaction_isolation: 'serializable',
}

let database: TestDatabase
let pooler: TestPgBouncer
const stores: CompleteStore[] = []

beforeAll(async () => {
  pooler = await startPgBouncer(inject('postgresUrl'))
})
afterAll(() => pooler.remove())
beforeEach(async () => {
  database = await freshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query('select current_database() as name')
  for (const [name, value] of Object.entries(defaults))
    await client.query(`alter database "${rows[0].name}" set ${name} = ${value}`)
  await client.end()
})
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await database.drop()
})

describe.each([
  ['directly', (url: string) => url],
  ['through a pooler', (url: string) => pooler.through(url)],
])('connected %s', (_, through) => {
  test('times, bytes, numbers and texts are read as they were written', async () => {
    const store = postgres({ url: through(database.url), schema: 'log' })
    stores.push(store)
    await store.migrate()
    const before = Date.now()
    const body = Buffer.from([0, 1, 39, 92, 127, 128, 255])
    await store.record([{ ...delivery('e\\1 €'), body }])
    const key = { source: 'shop', id: 'e\\1 €' }
    const event = (await store.get(key))!
    expect(Math.abs(event.receivedAt - before)).toBeLessThan(60_000)
    const [page] = (await store.list({ from: before - 60_000, to: before + 60_000 }, { limit: 10 })).events
    expect(page).toMatchObject({ id: 'e\\1 €', receivedAt: event.receivedAt })
    expect(await store.inspect.idsFrom('e\\', 10)).toEqual([key])

    const [claimed] = await store.claim({ worker: 'w', limit: 1, leaseMs: 60_000 })
    expect(Buffer.from(claimed!.body!)).toEqual(body)
    expect(claimed!.receivedAt).toBe(event.receivedAt)
    const transaction = await store.transaction()
    await transaction.tx.query('select 1')
    expect(
      await transaction.finish([{ lease: claimed!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }]),
    ).toBe(true)
    const [attempt] = await store.inspect.attempts(key)
    expect(Math.abs(attempt!.finishedAt - before)).toBeLessThan(60_000)
    const { now } = await store.retention.maintain({ payloadsBefore: {} })
    expect(Math.abs(now - before)).toBeLessThan(60_000)
    expect((await store.stats())[0]).toMatchObject({ recorded: 1, succeeded: 1 })
  })
})
