import { storeContract } from 'hookonce/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../support/database.js'
import { postgresHarness } from '../support/postgres-harness.js'

describe('the store contract on PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())

  for (const { name, run } of storeContract) {
    test(name, async () => {
      const harness = await postgresHarness(database.url)
      try {
        await run(harness)
      } finally {
        await harness.end()
      }
    })
  }
})
