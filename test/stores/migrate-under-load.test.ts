/** A new version migrates while the old one takes deliveries and a backup reads: nobody waits for long. */
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { migrations } from '#dist/stores/postgres/migrations.js'
import { postgresSchemaLog, type SharedLog } from '../support/logs.js'
import { until } from '../support/processing.js'

const url = () => inject('postgresUrl')
/** The migration that changes the table of events; the log is left just before it. */
const { number: changing } = migrations.find(({ name }) => name === 'flags')!

let log: SharedLog
let schema: string
const clients: pg.Client[] = []

beforeEach(async () => {
  log = await postgresSchemaLog()
  schema = log.args[2]!
  const before = migrations.filter(({ number }) => number < changing)
  const text = before.map(
    ({ number, name, sql }) =>
      `${sql}\ninsert into hookonce.migrations (number, name) values (${number}, '${name}');`,
  )
  await log.sql(text.join('\n').replace(/\bhookonce([.;])/g, `${schema}$1`))
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end()
  await log.remove()
})

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url() })
  await client.connect()
  clients.push(client)
  return client
}

/** What a commit of the old version needs of the table. */
async function intake(client: pg.Client): Promise<number> {
  const from = performance.now()
  await client.query(`begin; lock table ${schema}.events in row exclusive mode; commit`)
  return performance.now() - from
}

/** Locks on the table that somebody waits for to change it. */
async function waiting(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as n from pg_locks where relation = '${schema}.events'::regclass and not granted
     and mode in ('AccessExclusiveLock', 'ShareLock')`,
  )
  return rows[0].n
}

test('the old version goes on while a reader keeps the migration waiting, and it completes when the reader ends', async () => {
  const reader = await connect()
  const sender = await connect()
  const watcher = await connect()
  await reader.query(`begin; select count(*) from ${schema}.events`)
  const store = postgres({ url: url(), schema })
  const migrating = store.migrate()
  const waits: number[] = []
  // Until the migration has asked for the table three times, and given up in between.
  for (let asked = 0, before = 0; asked < 3; ) {
    const now = await waiting(watcher)
    if (now > 0 && before === 0) asked++
    before = now
    waits.push(await intake(sender))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  // Half a second is the limit of the lock; the rest is for a busy machine. It was 45 s once.
  expect(Math.max(...waits)).toBeLessThan(15_000)
  await reader.query('commit')
  const { applied } = await migrating
  expect(applied).toContain(changing)
  expect(await store.migrate()).toMatchObject({ applied: [] })
  await store.close()
})

test('a migration that is given up leaves nothing in the queue on the server', async () => {
  const reader = await connect()
  const watcher = await connect()
  await reader.query(`begin; select count(*) from ${schema}.events`)
  const store = postgres({ url: url(), schema })
  const migrating = store.migrate()
  migrating.catch(() => {})
  await until(async () => (await waiting(watcher)) > 0, 'it waits for the table')
  await store.close()
  await expect(migrating).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  await until(async () => (await waiting(watcher)) === 0, 'nobody waits any more')
})
