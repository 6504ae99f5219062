import { storeContract } from 'hookonce/testing/contracts'
import { describe, test } from 'vitest'
import { sqliteHarness } from '../support/sqlite-harness.js'

describe('the store contract on SQLite', () => {
  for (const { name, run } of storeContract) {
    test(name, async () => {
      const harness = await sqliteHarness()
      try {
        await run(harness)
      } finally {
        await harness.end()
      }
    })
  }
})
