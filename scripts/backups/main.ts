/**
 * npm run chaos -- backups: a log in a dump (pg_dump, pg_restore) and in a logical replica. Needs root and the package
 * postgresql of Debian. In both copies every event is known, the inspection finds nothing broken, new events are recorded
 * and the backlog is handled. Recovery to an earlier moment is tested in test/redis/restore.test.ts.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'hookonce/postgres'
import type { NewDelivery } from 'hookonce/testing/contracts'
import pg from 'pg'
import { atEnd, longRun } from '../long-run.js'

const version = readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))[0]!
const bin = (name: string) => `/usr/lib/postgresql/${version}/bin/${name}`
const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
const user = { uid: id('-u'), gid: id('-g') }
const folder = mkdtempSync(join(tmpdir(), 'hookonce-backups-'))
chownSync(folder, user.uid, user.gid)
const data = join(folder, 'data')
const port = 20_000 + (process.pid % 10_000)
const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`
const run = (name: string, ...args: string[]) =>
  execFileSync(bin(name), args, { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })

function end(): void {
  try {
    run('pg_ctl', '-D', data, '-m', 'immediate', 'stop')
  } catch {} // it has not started
  rmSync(folder, { recursive: true, force: true })
}
atEnd(end)
await longRun(async () => {
  run('initdb', '-D', data, '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8')
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder} -c wal_level=logical`
  run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', options, 'start')
  await write()
  await dump()
  await replicate()
  return true
})

/** 300 events: 100 of them handled, 200 in the backlog. */
async function write(): Promise<void> {
  await sql('postgres', 'create database original')
  const store = postgres(urlOf('original'))
  await store.migrate()
  await store.record(Array.from({ length: 300 }, (_, n) => delivery(`event ${n}`)).slice(0, 200))
  await store.record(Array.from({ length: 100 }, (_, n) => delivery(`event ${n + 200}`)))
  const claimed = await store.claim({ worker: 'w', limit: 100, leaseMs: 60_000 })
  const outcome = { kind: 'succeeded' } as const
  await store.settle(claimed.map(({ lease }) => ({ lease, outcome, durationMs: 1 })))
  await store.close()
}

async function dump(): Promise<void> {
  run(
    'pg_dump',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'postgres',
    '-Fc',
    '-n',
    'hookonce',
    '-f',
    'dump',
    'original',
  )
  await sql('postgres', 'create database restored')
  run(
    'pg_restore',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'postgres',
    '-d',
    'restored',
    '--exit-on-error',
    'dump',
  )
  await examine('restored')
}

/** The tables come from the migrations, the rows by logical replication, the position of the sequence by hand. */
async function replicate(): Promise<void> {
  await sql('postgres', 'create database replica')
  const store = postgres(urlOf('replica'))
  await store.migrate()
  await store.close()
  // Rows that the migrations have written come with the others.
  await sql('replica', 'truncate hookonce.migrations')
  await sql('original', 'create publication hookonce for tables in schema hookonce')
  await sql('original', "select pg_create_logical_replication_slot('hookonce', 'pgoutput')")
  await sql(
    'replica',
    `create subscription hookonce connection 'host=127.0.0.1 port=${port} user=postgres dbname=original'
     publication hookonce with (create_slot = false, slot_name = 'hookonce')`,
  )
  for (;;) {
    const [row] = await sql(
      'replica',
      "select count(*) filter (where srsubstate <> 'r') as n, count(*) as all from pg_subscription_rel",
    )
    if (Number(row!.n) === 0 && Number(row!.all) > 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  await sql('replica', 'drop subscription hookonce')
  await sql('replica', "select setval('hookonce.event_seq', (select max(seq) from hookonce.events))")
  await sql(
    'replica',
    "select setval(pg_get_serial_sequence('hookonce.audit', 'id'), (select coalesce(max(id), 1) from hookonce.audit))",
  )
  await examine('replica')
}

async function examine(database: string): Promise<void> {
  const store = postgres(urlOf(database))
  try {
    await store.migrate()
    const report = await store.inspect.report()
    const broken = [...report.invariants, ...report.settings].filter(({ ok }) => !ok)
    const known = await store.record([delivery('event 7'), delivery('event 250')])
    const fresh = await store.record([delivery(`new in ${database}`)])
    const claimed = await store.claim({ worker: 'w', limit: 500, leaseMs: 60_000 })
    const totals = (await store.stats()).reduce((sum, { recorded }) => sum + recorded, 0)
    const found = {
      broken: broken.map(({ name, value }) => `${name}: ${value}`),
      known: known.flat().map(({ status }) => status),
      fresh: fresh.flat().map(({ status }) => status),
      claimed: claimed.length,
      totals,
    }
    console.log(database, JSON.stringify(found))
    const expected = {
      broken: [],
      known: ['duplicate', 'duplicate'],
      fresh: ['recorded'],
      claimed: 201,
      totals: 301,
    }
    if (JSON.stringify(found) !== JSON.stringify(expected))
      throw new Error(`${database}: expected ${JSON.stringify(expected)}`)
  } finally {
    await store.close()
  }
}

function delivery(eventId: string): NewDelivery {
  const contentHash = createHash('sha256').update(eventId).digest()
  const event = { id: eventId, type: 'paid', reference: null, contentHash, guardHash: null }
  return {
    source: 'shop',
    headers: {},
    body: Buffer.from(eventId),
    events: [event],
    contentGuard: 'review',
  }
}

async function sql(database: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: urlOf(database) })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
