/** The tests for `npm run mutants:score`: those of the mutated files that need no server. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'test/providers/{engine,exact-bytes,keyed-digest,options,slices,unknown-senders}.test.ts',
      'test/fuzz/bodies.test.ts',
    ],
    environment: 'node',
    testTimeout: 60_000,
    server: { deps: { external: [/\/dist\//] } },
  },
})
