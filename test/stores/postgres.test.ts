import { storeContract } from 'hookonce/testing/contracts'
import { describe, test } from 'vitest'
import { postgresHarness } from '../support/postgres-harness.js'

describe('the store contract on PostgreSQL', () => {
  for (const { name, run } of storeContract) {
    test(name, async () => {
      const harness = await postgresHarness()
      try {
        await run(harness)
      } finally {
        await harness.end()
      }
    })
  }
})
