/**
 * The oldest PostgreSQL that is supported: migrations, every twentieth case of the store contract, handlers and the
 * inspection of `doctor`. The newest one runs all other tests; `npm run test:versions` runs the whole contract, the
 * migrations and the processing tests on each version.
 */
import type { PostgresTx } from 'hookonce/postgres'
import { testInbox } from 'hookonce/testing'
import { storeContract } from 'hookonce/testing/contracts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loggedInbox } from '../support/inboxes.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { postgresHarness } from '../support/postgres-harness.js'
import { nativeDirOf } from '../support/postgres-native.mjs'
import { postAll, quickRetry, shop, stateOf, until } from '../support/processing.js'

const OLDEST = 14
let server: TestPostgres

describe(`on PostgreSQL ${OLDEST}`, () => {
  beforeAll(async () => {
    server = await startPostgres({ native: await nativeDirOf(OLDEST) })
  })
  afterAll(() => server?.remove())

  test('the server has this version', async () => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    const { rows } = await client.query('show server_version_num')
    await client.end()
    expect(Math.floor(rows[0].server_version_num / 10_000)).toBe(OLDEST)
  })

  test('an inspection finds nothing to change', async () => {
    const harness = await postgresHarness(server.url)
    try {
      const { settings, invariants } = await (await harness.open()).inspect!.report()
      expect([...settings, ...invariants].filter(({ ok }) => !ok)).toEqual([])
    } finally {
      await harness.end()
    }
  })

  test('handlers succeed, fail and are tried again in their transactions', async () => {
    const harness = await postgresHarness(server.url)
    try {
      const { inbox } = loggedInbox({
        store: await harness.open(),
        sources: { shop: shop({ order: 'reference' }) },
        processing: { retry: quickRetry },
      })
      inbox.on('shop', '*', async (event, ctx) => {
        await harness.insertEffect(ctx.tx as PostgresTx, event.id)
        await ctx.once('mail', () => 'sent')
        if (ctx.attempt === 1 && event.id === 'e1') throw new Error('try again')
      })
      await postAll(inbox, [{ id: 'e0', ref: 'a' }, { id: 'e1', ref: 'a' }, { id: 'e2' }])
      await inbox.start()
      for (const id of ['e0', 'e1', 'e2']) {
        await until(async () => (await stateOf(inbox, id)) === 'succeeded', `${id} is handled`)
        expect(await harness.countEffects(id)).toBe(1)
      }
      await inbox.stop()
    } finally {
      await harness.end()
    }
  })

  test('the time of a test can be moved by months', async () => {
    const kit = await testInbox({ store: server.url, sources: { shop: shop() } })
    try {
      // Returns the number of events that were handled.
      expect(await kit.advance('90d')).toBe(0)
    } finally {
      await kit.stop()
    }
  })

  for (const { name, run } of storeContract.filter((_, i) => i % 20 === 0)) {
    test(name, async () => {
      const harness = await postgresHarness(server.url)
      try {
        await run(harness)
      } finally {
        await harness.end()
      }
    })
  }
})
