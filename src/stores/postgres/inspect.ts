/** inspect: is this log what it should be? Settings that an ack relies on, and invariants on a bounded number of rows. */
import type { Finding, Inspection } from '../../store.js'
import { setting } from '../shared/findings.js'
import { neededBy } from '../shared/schema-version.js'
import type { Database } from './database.js'
import { inspectRows, inspectUniqueKey } from './inspect-rows.js'
import { latest, newerMigrations, schemaFound } from './migrate.js'
import { countAhead } from './partitions.js'

const OLDEST_TESTED = 150_000

interface Settings {
  at: number
  version: string
  version_number: number
  synchronous_commit: string
  fsync: string
  full_page_writes: string
  autovacuum: string
  room: number
}

/** On a connection of the log: what it says is what record runs under. */
const settings = `
select statement_timestamp() as at, current_setting('server_version') as version,
  current_setting('server_version_num')::int as version_number,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes, current_setting('autovacuum') as autovacuum,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as room`

export async function inspect(db: Database): Promise<Inspection> {
  const [found, newer] = await db.atomic(async (run) => {
    const there = await schemaFound(run, db.schema)
    return [there, there > latest ? await newerMigrations(run) : []] as const
  })
  const [server] = await db.adhoc<Settings>(settings, [])
  const schema = { found, known: latest, ...(newer.length > 0 && { needed: neededBy(newer) }) }
  const base = { schema, settings: settingsOf(db, server!) }
  // Of another version's tables nothing is known; the numbers say what to do.
  if (found !== latest) return { ...base, now: server!.at, invariants: [], partitionsAhead: 0 }
  const [clock] = await db.adhoc<{ now: number }>('select hookonce.clock() as now', [])
  const [partitions] = await db.read<{ ahead: number }>(countAhead, [])
  return {
    ...base,
    now: clock!.now,
    invariants: [await inspectUniqueKey(db), ...(await inspectRows(db))],
    partitionsAhead: partitions!.ahead,
  }
}

function settingsOf(db: Database, server: Settings): Finding[] {
  const { synchronous_commit: commit, fsync, full_page_writes: pages, autovacuum, room } = server
  return [
    setting(
      'server_version',
      server.version,
      server.version_number >= OLDEST_TESTED,
      'Upgrade the server: PostgreSQL 15 is the oldest that hookonce is tested on.',
    ),
    setting(
      'synchronous_commit',
      commit,
      commit !== 'off',
      'An ack would not mean durable. Set synchronous_commit to on for the role or the server.',
    ),
    setting(
      'fsync',
      fsync,
      fsync === 'on',
      'A crash of the machine can corrupt the log. Set fsync = on in postgresql.conf and reload.',
    ),
    setting(
      'full_page_writes',
      pages,
      pages === 'on',
      'A crash of the machine can corrupt the log. Set full_page_writes = on in postgresql.conf and reload.',
    ),
    setting(
      'autovacuum',
      autovacuum,
      autovacuum === 'on',
      'The work table will grow without end. Set autovacuum = on in postgresql.conf and reload.',
    ),
    setting(
      'max_connections',
      `${db.connections} needed by this process, ${room} allowed`,
      db.connections <= room,
      'Raise max_connections, or lower maxConnections and maxTransactions of the store, or the size of its pool.',
    ),
  ]
}
