/**
 * npm run chaos -- cluster: PostgreSQL under Patroni on three hosts of this machine, three hookonce nodes under load, and
 * one fault after the other. Needs root on Debian. Prints a table, and fails when an acknowledged event is lost, an
 * effect happens twice or an event is not processed. Everything it starts is stopped, also after Ctrl-C.
 *
 * HOOKONCE_CHAOS_FAULTS (all) names faults to run, HOOKONCE_CHAOS_ROUNDS (1) repeats them, HOOKONCE_CHAOS_RATE (60) is
 * the number of deliveries a second.
 */
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { atEnd, longRun } from '../long-run.js'
import { type Cluster, install, startCluster, until } from './cluster.js'
import { type Driver, startDriver } from './driver.js'
import { type Fault, faults } from './faults.js'

const perSecond = Number(process.env.HOOKONCE_CHAOS_RATE ?? 60)
const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)
const wanted = process.env.HOOKONCE_CHAOS_FAULTS?.split(',')

interface Row {
  readonly fault: string
  /** Seconds without an acknowledgement by the nodes without and with a spool. */
  readonly silent: number
  readonly silentWithSpool: number
  readonly acknowledged: number
  readonly lost: number
  readonly doubled: number
  readonly stuck: number
}

interface Drivers {
  readonly plain: Driver
  readonly spooling: Driver
}

await longRun(main)

async function main(): Promise<boolean> {
  install()
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-cluster-'))
  chmodSync(folder, 0o755)
  atEnd(() => {
    if (process.env.HOOKONCE_CHAOS_KEEP === undefined) rmSync(folder, { recursive: true, force: true })
    else console.log(`kept: ${folder}`)
  })
  const cluster = await startCluster(folder)
  atEnd(() => cluster.stop())
  console.log(`cluster: ${cluster.versions}`)
  await cluster.onPrimary(async (client) => {
    await client.query('create table public.effects (event text not null)')
    await client.query('grant insert on public.effects to hookonce')
  })
  const nodes = [
    await startNode(cluster.url, ''),
    await startNode(cluster.url, ''),
    await startNode(cluster.url, join(folder, 'spool.db')),
  ]
  const [first, second, third] = nodes.map(({ url }) => url) as [string, string, string]
  const drivers: Drivers = {
    plain: startDriver('plain', [first, second], perSecond, join(folder, 'ledger-plain')),
    spooling: startDriver('spooling', [third], perSecond, join(folder, 'ledger-spooling')),
  }
  atEnd(() => {
    drivers.plain.stop()
    drivers.spooling.stop()
  })

  const rows: Row[] = []
  for (let round = 0; round < rounds; round++)
    for (const fault of faults) {
      if (wanted && !wanted.includes(fault.name)) continue
      const row = await examine(cluster, drivers, fault)
      rows.push(row)
      const { plain, spooling } = drivers
      console.log(
        JSON.stringify(row),
        Object.fromEntries(plain.answers),
        Object.fromEntries(spooling.answers),
      )
    }
  await drivers.plain.finish()
  await drivers.spooling.finish()
  const last = await count(cluster, drivers)
  rows.push({ fault: 'at the end, all together', silent: 0, silentWithSpool: 0, ...last })
  console.table(rows)
  return rows.every(({ lost, doubled, stuck }) => lost + doubled + stuck === 0)
}

async function examine(cluster: Cluster, drivers: Drivers, fault: Fault): Promise<Row> {
  console.log(`${new Date().toISOString()} ${fault.name}: ${fault.what}`)
  const since = performance.now()
  await fault.run(cluster)
  await cluster.whole()
  // The outage is over when both groups are acknowledged again by the log itself.
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const silent = tenths(drivers.plain.longestGap(since))
  const silentWithSpool = tenths(drivers.spooling.longestGap(since))
  return { fault: fault.name, silent, silentWithSpool, ...(await count(cluster, drivers)) }
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10
}

/** What was acknowledged so far is in the log and was processed once. Waits for the workers to finish that. */
async function count(
  cluster: Cluster,
  { plain, spooling }: Drivers,
): Promise<Pick<Row, 'acknowledged' | 'lost' | 'doubled' | 'stuck'>> {
  const ids = [...plain.acknowledged(), ...spooling.acknowledged()]
  const missing = (table: string, column: string) =>
    cluster.onPrimary(async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `select id from unnest($1::text[]) as i (id) where id not in (select ${column} from ${table})`,
        [ids],
      )
      return rows.length
    })
  const left = (table: string, column: string) =>
    until(
      `${table} to have every acknowledged event`,
      async () => (await missing(table, column)) === 0,
      90_000,
    ).then(
      () => 0,
      () => missing(table, column),
    )
  const lost = await left('hookonce.events', 'event_id')
  const stuck = (await left('public.effects', 'event')) - lost
  const doubled = await cluster.onPrimary(async (client) => {
    const sql = 'select event from public.effects group by event having count(*) > 1'
    return (await client.query(sql)).rows.length
  })
  return { acknowledged: ids.length, lost, doubled, stuck }
}

async function startNode(url: string, spool: string): Promise<{ url: string }> {
  const script = fileURLToPath(new URL('./node.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, url, spool], {
    stdio: ['pipe', 'pipe', process.env.HOOKONCE_CHAOS_LOG === undefined ? 'ignore' : 'inherit'],
    detached: true,
  })
  atEnd(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const said = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve)
    child.once('exit', (code) => reject(new Error(`A node ended with exit code ${code}.`)))
  })
  return { url: said }
}
