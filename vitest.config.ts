import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take long. They are started first, so that none of them runs alone at the end. */
const longFiles = [
  'test/stores/postgres.test.ts',
  'test/stores/sqlite.test.ts',
  'test/property/store-model.test.ts',
  'test/bench/smoke.test.ts',
  'test/processing/crash.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/operations.test.ts',
  'test/server/signals.test.ts',
  'test/processing/recovery.test.ts',
  'test/cli/events.test.ts',
  'test/server/dead-log.test.ts',
  'test/retention/kill.test.ts',
  'test/property/concurrent.test.ts',
  'test/processing/time-limits.test.ts',
  'test/stores/other-programs.test.ts',
  'test/nodes/failover.test.ts',
  'test/spool/outage.test.ts',
  'test/spool/processes.test.ts',
  'test/stores/kill.test.ts',
  'test/stores/long-lane.test.ts',
  'test/blackbox/blackbox.test.ts',
]

class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longFiles.findIndex((name) => moduleId.endsWith(name))
      return place === -1 ? longFiles.length : place
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'node',
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Most files wait for leases, timers and other processes half of their time: two cores can run four.
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: LongFilesFirst },
    // Limits for a machine that is busy with other work. A test that passes needs a fraction of them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // Tests import the built package by its own name. It is run as it is shipped, by Node and not by vite.
    server: { deps: { external: [/\/dist\//] } },
    // Node reads the source maps beside dist, so stack traces point into src.
    execArgv: ['--enable-source-maps'],
  },
})
