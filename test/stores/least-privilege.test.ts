/**
 * Two roles, made with the statements of docs/postgresql.md: the owner migrates and maintains, the other one only reads
 * and writes rows. A step that the second may not take is an error that names the grant.
 */
import { readFileSync } from 'node:fs'
import { type PostgresTx, postgres } from 'hookonce/postgres'
import type { CompleteStore, NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freshDatabase, once, type TestDatabase } from '../support/database.js'
import { afterwards } from '../support/serving.js'

const document = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8')
const [create = '', grantExisting = ''] = [...document.matchAll(/```sql\n([\s\S]*?)```/g)].map(
  ([, sql]) => sql!,
)
const suffix = process.pid
const roles = { owner: `hookonce_owner_${suffix}`, app: `hookonce_app_${suffix}` }
/** The statements of the document, with names that no other run uses. */
const named = (sql: string) =>
  sql.replaceAll('hookonce_owner', roles.owner).replaceAll('hookonce_app', roles.app)

let database: TestDatabase
let superuser: pg.Client

beforeAll(async () => {
  database = await freshDatabase()
  superuser = new pg.Client({ connectionString: database.url })
  await superuser.connect()
  await superuser.query(named(create))
})
afterAll(async () => {
  await superuser.end()
  await database.dropped()
  await once(inject('postgresUrl'), `drop role ${roles.owner}; drop role ${roles.app}`)
})

function urlOf(role: string): string {
  const url = new URL(database.url)
  url.username = role
  return url.href
}

function open(role: keyof typeof roles, options: { schema?: string } = {}): CompleteStore<PostgresTx> {
  const store = postgres({ url: urlOf(roles[role]), ...options })
  afterwards(() => store.close())
  return store
}

function delivery(eventId: string, receivedAt?: number): NewDelivery {
  const event = { id: eventId, type: 't', reference: null, contentHash: null, guardHash: null }
  return {
    ...{
      source: 'shop',
      headers: {},
      body: Buffer.from(eventId),
      events: [event],
      contentGuard: 'review',
    },
    ...(receivedAt === undefined ? {} : { receivedAt }),
  } as NewDelivery
}

describe('the role that only reads and writes rows', () => {
  test('is told which privilege a new log needs', async () => {
    await superuser.query(`create schema empty authorization ${roles.owner}`)
    await expect(open('app', { schema: 'elsewhere' }).migrate()).rejects.toMatchObject({
      code: 'STORE_PRIVILEGE',
      message: expect.stringMatching(/create on database hookonce_test_\w+, to migrate\. Grant it, or run/),
    })
    await expect(open('app', { schema: 'empty' }).migrate()).rejects.toMatchObject({
      code: 'STORE_PRIVILEGE',
      message: expect.stringContaining('usage on schema empty'),
    })
  })

  test('does everything but migrate and maintain, after the owner has migrated', async () => {
    expect((await open('owner').migrate()).from).toBe(0)
    const store = open('app')
    expect((await store.migrate()).applied).toEqual([])
    await store.ping()
    await store.record([delivery('a'), delivery('b'), delivery('a')])
    const [first, second] = await store.claim({ worker: 'w', limit: 2, leaseMs: 30_000 })
    expect(await store.extend([first!.lease], 30_000)).toEqual([true])
    const transaction = await store.transaction()
    await transaction.tx.query('select 1')
    expect(
      await transaction.finish([{ lease: first!.lease, outcome: { kind: 'succeeded' }, durationMs: 1 }]),
    ).toBe(true)
    expect(await store.release([second!.lease])).toEqual([true])
    expect((await store.list({})).events.length).toBe(2)
    await store.inspect.report()
    await store.stats()
    await store.retention.prune({ source: 'shop', eventsBefore: Date.now() + 60_000, limit: 10 })
    const { rows } = await superuser.query(
      'select name from hookonce.payload_partitions() order by low desc limit 1',
    )
    await superuser.query(`drop table hookonce.${rows[0].name}`)
    await expect(store.retention.maintain({ payloadsBefore: {} })).rejects.toMatchObject({
      code: 'STORE_PRIVILEGE',
      message: expect.stringContaining('schema hookonce'),
    })
    await expect(store.record([delivery('old', Date.UTC(2020, 1, 1))])).rejects.toMatchObject({
      code: 'STORE_PRIVILEGE',
    })
    await open('owner').retention.maintain({ payloadsBefore: {} })
  })

  test('is told which grant is missing on a table, a sequence and the schema', async () => {
    const store = open('app')
    for (const [revoke, message] of [
      [
        `revoke insert on hookonce.events from ${roles.app}`,
        'select, insert, update, delete on table events',
      ],
      [`revoke all on sequence hookonce.event_seq from ${roles.app}`, 'usage, select on sequence event_seq'],
      [`revoke usage on schema hookonce from ${roles.app}`, 'usage on schema hookonce'],
    ] as const) {
      await superuser.query(revoke)
      await expect(store.record([delivery('x')])).rejects.toMatchObject({
        code: 'STORE_PRIVILEGE',
        message: expect.stringContaining(message),
      })
    }
    await superuser.query(`grant usage on schema hookonce to ${roles.app};${named(grantExisting)}`)
    expect((await store.record([delivery('x')]))[0]![0]!.status).toBe('recorded')
  })

  test('is refused when row-level security would hide events from it', async () => {
    const store = open('app')
    await superuser.query('alter table hookonce.work enable row level security')
    const calls = [() => store.ping(), () => open('app').migrate(), () => store.record([delivery('hidden')])]
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({
        code: 'STORE_PRIVILEGE',
        message: expect.stringContaining('row-level security hides rows of table'),
      })
    // The owner of a table sees every row.
    await open('owner').ping()
    await superuser.query('alter table hookonce.work disable row level security')
    await store.ping()
  })
})
