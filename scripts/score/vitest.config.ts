/** The tests for `npm run mutants:score`: those of the mutated files that need no server. */
import { defineConfig } from 'vitest/config'
import { part } from './parts.mjs'

export default defineConfig({
  test: {
    include: part.tests,
    // The cases for both stores run on SQLite alone: see `storeKinds` in test/support/logs.ts.
    env: { HOOKONCE_TEST_STORES: 'SQLite' },
    environment: 'node',
    // A mutant that lets a test wait for ever is noticed by this limit.
    testTimeout: 5_000,
    server: { deps: { external: [/\/dist\//] } },
  },
})
