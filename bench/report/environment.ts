/** The machine, the versions and the settings of all sides. They are printed with every result. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import pg from 'pg'

export interface Environment {
  readonly facts: readonly string[]
  readonly settings: readonly string[]
}

export const postgresSettings = {
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
}

export async function describeEnvironment(
  postgresUrl: string,
  hasRedis: boolean,
  otherNode: string | null,
): Promise<Environment> {
  const client = new pg.Client({ connectionString: postgresUrl })
  await client.connect()
  const { rows } = await client.query<{ name: string; setting: string }>(
    `select name, current_setting(name) as setting from pg_settings
     where name in ('server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum', ${Object.keys(
       postgresSettings,
     )
       .map((name) => `'${name}'`)
       .join(', ')}) order by name`,
  )
  await client.end()
  const setting = Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  const { server_version: version, ...others } = setting
  const cores = cpus()
  const load = loadavg()[0]!
  return {
    facts: [
      // The benchmark itself has only started a database so far.
      ...(load > cores.length / 2
        ? ['**Preliminary**: the load average was high when this run began; run it again on a quiet machine.']
        : []),
      `Machine: ${cores.length} cores (${cores[0]?.model.trim() || 'model unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB of memory, ${type()} ${release()}. Load generator, servers and databases share it. Load average before the run: ${load.toFixed(1)}.`,
      `Node ${process.version}${otherNode === null ? '' : `; suite \`nodes\`: also ${execFileSync(otherNode, ['--version'], { encoding: 'utf8' }).trim()}`}. PostgreSQL ${version}${hasRedis ? `. Redis ${redisVersion()}` : ''}.`,
      `Packages: ${['pg', 'pg-boss', 'graphile-worker', 'bullmq', 'express', '@photostructure/sqlite'].map((name) => `${name} ${versionOf(name)}`).join(', ')}.`,
    ],
    settings: [
      `PostgreSQL: ${Object.entries(others)
        .map(([name, value]) => `${name} ${value}`)
        .join(', ')}. SQLite: WAL, synchronous=FULL. Redis: appendonly, appendfsync always.`,
      'Intake sides: pools of 20 connections; pg-boss `send` with the id of the event, graphile-worker `addJob` with its job key (`unsafe_dedupe`), BullMQ `add` with its job id, each on the same `node:http` route with HMAC and JSON.parse; the hand-written handler on Express: begin, select for update, insert, commit.',
      'Processing sides: 16 events at a time, at most 20 connections for handlers; pg-boss with 16 local workers, batches of 50 and `burstWhenBatchFull`; graphile-worker with a local queue of 500 and batched completions; BullMQ with concurrency 16.',
    ],
  }
}

function versionOf(name: string): string {
  const path = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}

function redisVersion(): string {
  const text = execFileSync('redis-server', ['--version'], { encoding: 'utf8' })
  return /v=(\S+)/.exec(text)?.[1] ?? 'of an unknown version'
}
