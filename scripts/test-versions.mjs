/**
 * `npm run test:versions [major ...]`: the store contract, migrations, partitions and processing on each supported version
 * of PostgreSQL. The servers are npm packages, installed on first use.
 */
import { spawnSync } from 'node:child_process'
import { nativeDirOf } from '../test/support/postgres-native.mjs'

const versions = [14, 15, 16, 17, 18]
const files = [
  'test/stores/postgres.test.ts',
  'test/stores/migrate.test.ts',
  'test/stores/earlier-version.test.ts',
  'test/stores/partitions.test.ts',
  'test/stores/pooler.test.ts',
  'test/processing/attempt.test.ts',
  'test/processing/order.test.ts',
  'test/processing/recovery.test.ts',
]

const asked = process.argv.slice(2).map(Number)
const failed = []
for (const major of asked.length > 0 ? asked : versions) {
  const native = await nativeDirOf(major)
  console.log(`PostgreSQL ${major}: ${native}`)
  const { status } = spawnSync('npx', ['vitest', 'run', ...files], {
    stdio: 'inherit',
    env: { ...process.env, HOOKONCE_TEST_POSTGRES_NATIVE: native },
  })
  if (status !== 0) failed.push(major)
}
if (failed.length > 0) {
  console.error(`Failed on PostgreSQL ${failed.join(', ')}.`)
  process.exit(1)
}
