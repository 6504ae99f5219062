/**
 * The oldest PostgreSQL that is supported: migrations, and a case of each kind of the store contract. The newest one runs
 * all other tests; `npm run test:versions` runs the whole contract on each version between them.
 */
import { storeContract } from 'hookonce/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { postgresHarness } from '../support/postgres-harness.js'
import { nativeDirOf } from '../support/postgres-native.mjs'

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

  for (const { name, run } of storeContract.filter((_, i) => i % 15 === 0)) {
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
