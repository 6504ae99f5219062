/**
 * npm run chaos -- deploy: a rolling deploy under load. A node of an earlier version records into a log with many events;
 * a node of this version starts beside it and migrates; then the old one goes. Fails when a delivery is refused, lost or
 * handled twice. Prints the slowest acknowledgement of the old node before and during the migration.
 *
 * HOOKONCE_DEPLOY_FROM (27546c7, the first release: schema 4) is the commit of the earlier version; it needs the history
 * of the repository. HOOKONCE_DEPLOY_EVENTS (5000000) is the size of the log.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { startPostgres } from '../../test/support/postgres.js'
import { until } from '../cluster/cluster.js'
import { type Driver, startDriver } from '../cluster/driver.js'
import { atEnd, longRun } from '../long-run.js'

const commit = process.env.HOOKONCE_DEPLOY_FROM ?? '27546c7'
const events = Number(process.env.HOOKONCE_DEPLOY_EVENTS ?? 5_000_000)
const perSecond = Number(process.env.HOOKONCE_CHAOS_RATE ?? 60)
const root = fileURLToPath(new URL('../..', import.meta.url))
const script = fileURLToPath(new URL('./node.mjs', import.meta.url))

await longRun(main)

async function main(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-deploy-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  const old = buildEarlier(join(folder, 'earlier'))
  const server = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '4GB' } })
  atEnd(() => server.remove())
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => {})
  await client.connect()
  atEnd(() => client.end().catch(() => {}))
  await client.query('create table public.effects (event text not null)')

  const first = await startNode(old, server.url)
  await fill(client)
  const before = await schemaOf(client)
  const driver = startDriver('deploy', [first.url], perSecond, join(folder, 'ledger'))
  atEnd(() => driver.stop())
  await pause(10)
  const quiet = driver.slowest(0)

  const since = performance.now()
  const second = await startNode(root, server.url)
  const migrationSeconds = (performance.now() - since) / 1_000
  const during = driver.slowest(since)
  const after = await schemaOf(client)
  // Both versions on the new schema.
  const both = startDriver('both', [first.url, second.url], perSecond, join(folder, 'ledger-both'))
  atEnd(() => both.stop())
  await pause(10)
  await driver.finish()
  await both.finish()
  // The old version ends, the new one handles the rest.
  first.child.kill('SIGTERM')
  await once(first.child, 'exit')
  const rest = startDriver('rest', [second.url], perSecond, join(folder, 'ledger-rest'))
  atEnd(() => rest.stop())
  await pause(5)
  await rest.finish()

  const drivers = [driver, both, rest]
  const refused = drivers.flatMap(({ answers }) => [...answers]).filter(([status]) => !status.startsWith('2'))
  const { lost, doubled } = await count(client, drivers)
  console.table({
    schema: `${before} to ${after}`,
    'events in the log': events,
    'migration (s)': migrationSeconds.toFixed(1),
    'slowest acknowledgement before (s)': quiet.toFixed(2),
    'slowest acknowledgement during the migration (s)': during.toFixed(2),
    acknowledged: drivers.flatMap((one) => one.acknowledged()).length,
    refused: refused.length === 0 ? 0 : JSON.stringify(refused),
    'lost or not handled': lost,
    'handled twice': doubled,
  })
  return refused.length === 0 && lost + doubled === 0
}

/** The package of an earlier commit, built in a folder of its own with the dependencies of this one. */
function buildEarlier(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 1 << 30 })
  execFileSync('tar', ['-x'], { cwd: folder, input: archive })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
    cwd: folder,
    stdio: 'inherit',
  })
  copyFileSync(script, join(folder, 'node.mjs'))
  return folder
}

async function startNode(folder: string, url: string): Promise<{ url: string; child: ChildProcess }> {
  const path = folder === root ? script : join(folder, 'node.mjs')
  const child = spawn(process.execPath, [path, url], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  atEnd(() => child.kill('SIGKILL'))
  const said = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (code) => reject(new Error(`A node ended with exit code ${code}.`)))
  })
  return { url: said, child }
}

/** Events of the past that were handled. */
async function fill(client: pg.Client): Promise<void> {
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'")
  // Indexes are built after the rows are there: that takes a fraction of the time. Nothing is delivered yet.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i where i.indrelid = 'hookonce.events'::regclass and not i.indisunique`,
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await client.query('alter table hookonce.events drop constraint events_once')
  for (let from = 1; from <= events; from += 500_000) {
    await client.query(
      `insert into hookonce.events (batch, received_at, processed_at, source, event_id, event_type, related_reference, content_hash)
       select 1, now() - n * interval '1 second', now(), 'shop', 'old ' || n, 'order.' || n % 50, 'customer ' || n % 100000,
         sha256(n::text::bytea)
       from generate_series($1::int, $2::int) as n`,
      [from, Math.min(events, from + 499_999)],
    )
  }
  await client.query('alter table hookonce.events add constraint events_once unique (source, event_id)')
  for (const { definition } of indexes) await client.query(definition)
  await client.query('vacuum analyze hookonce.events')
}

async function schemaOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>('select max(number) as n from hookonce.migrations')
  return rows[0]!.n
}

async function count(
  client: pg.Client,
  drivers: readonly Driver[],
): Promise<{ lost: number; doubled: number }> {
  const ids = drivers.flatMap((driver) => driver.acknowledged())
  const missing = async () => {
    const sql =
      'select id from unnest($1::text[]) as i (id) where id not in (select event from public.effects)'
    return (await client.query(sql, [ids])).rows.length
  }
  await until('every event to be handled', async () => (await missing()) === 0, 60_000).catch(() => {})
  const sql = 'select event from public.effects group by event having count(*) > 1'
  return { lost: await missing(), doubled: (await client.query(sql)).rows.length }
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
}
