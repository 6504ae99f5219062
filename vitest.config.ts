import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // A process runs many files: to start it and to load the package costs more than most files.
    isolate: false,
    // Most files wait for leases, timers and other processes half of their time: two cores can run eight.
    maxWorkers: Math.max(8, availableParallelism()),
    // Limits for a machine that is busy with other work. A test that passes needs a fraction of them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000, interval: 40 } },
    // Tests import the built package by its own name. It is run as it is shipped, by Node and not by vite.
    server: { deps: { external: [/\/dist\//] } },
    // Node reads the source maps beside dist, so stack traces point into src.
    execArgv: ['--enable-source-maps'],
  },
})
