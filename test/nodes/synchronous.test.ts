/**
 * A primary whose commits wait for a standby, and the standby is away. A commit whose wait is cancelled is visible on the
 * primary and missing on the standby: it must not be acknowledged, also not as a duplicate, until the standby has it.
 */
import { createHash } from 'node:crypto'
import { postgres } from 'hookonce/postgres'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { once } from '../support/database.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { until } from '../support/processing.js'

let primary: TestPostgres
let standby: TestPostgres
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  primary = await startPostgres()
  closing.push(() => primary.remove())
  await primary.stop()
  standby = await startPostgres({ standbyOf: primary })
  closing.push(() => standby.remove())
  await primary.restart()
  await once(primary.url, "alter system set synchronous_standby_names = 'standby'")
  await once(primary.url, 'select pg_reload_conf()')
})
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('an event that the standby does not have is not acknowledged, by no node and not as a duplicate', async () => {
  await follows()
  // Time enough to write and not to wait: what is not acknowledged must be there on the primary.
  const nodes = [0, 1].map(() => postgres({ url: primary.url, statementTimeout: 2_000 }))
  const patient = postgres({ url: primary.url, statementTimeout: 60_000 })
  for (const node of [...nodes, patient]) closing.push(() => node.close())
  const [first, second] = nodes as [(typeof nodes)[0], (typeof nodes)[0]]
  await patient.migrate()
  const [[before] = []] = await patient.record([delivery('before')])
  expect(before).toMatchObject({ status: 'recorded' })

  await standby.stop()
  await expect(first.record([delivery('event')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  // The sender tries again: at the same node, and at another one that knows nothing of the first try.
  await expect(first.record([delivery('event')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  await expect(second.record([delivery('event')])).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })

  await standby.restart()
  await follows()
  expect(await patient.record([delivery('event')])).toMatchObject([[{ status: 'duplicate' }]])
  await primary.kill9()
  await once(standby.url, 'select pg_promote()')
  const promoted = postgres(standby.url)
  closing.push(() => promoted.close())
  expect(await promoted.get({ source: 'shop', id: 'event' })).not.toBeNull()
})

test('a delivery of known events costs no commit where no standby is waited for', async () => {
  const { url } = standby
  const store = postgres(url)
  closing.push(() => store.close())
  await store.record([delivery('known')])
  // Each commit that writes takes a transaction id.
  const commits = () => number(url, 'select pg_snapshot_xmax(pg_current_snapshot())::text as n')
  const from = await commits()
  for (let n = 0; n < 200; n++)
    expect(await store.record([delivery('known')])).toMatchObject([[{ status: 'duplicate' }]])
  expect((await commits()) - from).toBeLessThan(100)
})

function delivery(id: string): NewDelivery {
  const contentHash = createHash('sha256').update(id).digest()
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from(id),
    events: [{ id: id, type: 'paid', reference: null, contentHash, guardHash: null }],
    contentGuard: 'review',
  }
}

async function follows(): Promise<void> {
  const sql = "select count(*) as n from pg_stat_replication where sync_state = 'sync'"
  await until(async () => (await number(primary.url, sql)) === 1, 'the standby follows')
}

async function number(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return Number((await client.query<{ n: string }>(sql)).rows[0]!.n)
  } finally {
    await client.end()
  }
}
