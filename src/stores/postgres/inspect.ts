/** Checks the settings that an ack relies on, and the invariants on the newest rows. */

import type { Finding, Inspection } from '../../store.js'
import {
  INSPECTED_ROWS,
  NAMED_ROWS,
  type RowCheck,
  rowFinding,
  setting,
  uniqueKeyFinding,
} from '../shared/findings.js'
import { neededBy } from '../shared/schema-version.js'
import type { Database } from './connection/database.js'
import { adhoc } from './connection/statement.js'
import { type Connections, connectionsOf, MORE_CONNECTIONS } from './connections.js'
import { latest, newerMigrations, schemaFound } from './migrate.js'
import { countAhead } from './partitions.js'

/** `npm run test:versions` begins with this version. */
const OLDEST_TESTED = 14

interface Settings {
  at: number
  version: string
  version_number: number
  synchronous_commit: string
  fsync: string
  full_page_writes: string
  autovacuum: string
}

/** Read on a connection of the log: the settings of `record`. */
const serverSettings = `
select statement_timestamp() as at, current_setting('server_version') as version,
  current_setting('server_version_num')::int as version_number,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('fsync') as fsync,
  current_setting('full_page_writes') as full_page_writes, current_setting('autovacuum') as autovacuum`

/** A longer transaction keeps removed rows of the work table from being reclaimed. */
const LONG_TRANSACTION_S = 15 * 60
/** Claims become slower. Fewer dead rows are normal between two runs of vacuum. */
const MANY_DEAD_ROWS = 100_000
/** Vacuum must run before two billion transactions have passed; autovacuum begins at 200 million. */
const OLD_TRANSACTIONS = 500_000_000

/** The next process may not fit. */
const NEARLY_ALL = 0.9

interface Growth {
  longest_s: number
  dead: number
  age: number
}

/** Sessions of other roles show their start only to members of pg_read_all_stats. */
const growth = `
select coalesce((select max(extract(epoch from clock_timestamp() - xact_start)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'), 0)::float8 as longest_s,
  coalesce((select n_dead_tup from pg_stat_user_tables where relid = 'hookonce.work'::regclass), 0)::float8 as dead,
  age((select datfrozenxid from pg_database where datname = current_database()))::float8 as age`

export function growthFindings({ longest_s: longest, dead, age }: Growth, schema: string): Finding[] {
  return [
    setting(
      'longest transaction',
      `${Math.round(longest)} s`,
      longest < LONG_TRANSACTION_S,
      'It keeps vacuum from removing rows of the work table. End it, and set idle_in_transaction_session_timeout. Run backups and reports on a standby.',
    ),
    setting(
      'work table',
      `${dead} removed rows not reclaimed`,
      dead < MANY_DEAD_ROWS,
      `Claims become slower. End long transactions, then run: vacuum ${schema}.work;`,
    ),
    setting(
      'transaction ids',
      `${Math.round(age / 1_000_000)} million since the oldest vacuum`,
      age < OLD_TRANSACTIONS,
      'The server stops writing at two billion. Find what blocks autovacuum: long transactions, prepared transactions, replication slots.',
    ),
  ]
}

export async function inspect(db: Database): Promise<Inspection> {
  const [found, newer] = await db.atomic(async (run) => {
    const applied = await schemaFound(run, db.schema)
    return [applied, applied > latest() ? await newerMigrations(run) : []] as const
  })
  const [server] = await db.query<Settings>(adhoc(serverSettings), [])
  const schema = { found, known: latest(), ...(newer.length > 0 && { needed: neededBy(newer) }) }
  const settings = [...settingsOf(server!), connections(db, await connectionsOf(db))]
  const base = { schema, settings, transactions: db.transactions.max }
  if (found !== latest()) return { ...base, now: server!.at, invariants: [], partitionsAhead: 0 }
  const [clock] = await db.query<{ now: number }>(adhoc('select hookonce.clock() as now'), [])
  const [grown] = await db.read<Growth>(adhoc(growth), [])
  const [partitions] = await db.read<{ ahead: number }>(countAhead, [])
  return {
    ...base,
    settings: [...base.settings, ...growthFindings(grown!, db.schema)],
    now: clock!.now,
    invariants: [await inspectUniqueKey(db), ...(await inspectRows(db))],
    partitionsAhead: partitions!.ahead,
  }
}

function settingsOf(server: Settings): Finding[] {
  const { synchronous_commit: commit, fsync, full_page_writes: pages, autovacuum } = server
  return [
    setting(
      'server_version',
      server.version,
      server.version_number >= OLDEST_TESTED * 10_000,
      `Upgrade the server: PostgreSQL ${OLDEST_TESTED} is the oldest that hookonce is tested on.`,
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
  ]
}

function connections({ connections: needed }: Database, { room, used }: Connections): Finding {
  return setting(
    'max_connections',
    `${needed} needed by each process, ${room} allowed, ${used} in use`,
    needed <= room && used < NEARLY_ALL * room,
    MORE_CONNECTIONS,
  )
}

const newestEvents = `select seq, parked, attempts, run, count(*) over (partition by source, event_id) as copies
  from (select * from hookonce.events order by seq desc limit ${INSPECTED_ROWS}) e`
const newestWork = `select seq, base_attempt from hookonce.work order by seq desc limit ${INSPECTED_ROWS}`
const unfinished = `(${newestWork})
  union all (select seq, 0 from hookonce.events where parked = 'dead' limit ${INSPECTED_ROWS})`

/** `l` is a row. With `offset 0` a subquery is a look-up for each row: as a join it was planned over all events. */
const checks: Readonly<Record<RowCheck, { rows: string; broken: string }>> = {
  twice: { rows: newestEvents, broken: 'l.copies > 1' },
  reopened: {
    rows: newestWork,
    // A retry or replay by an operator sets base_attempt to the number of attempts before it.
    broken: `exists (select 1 from hookonce.events e where e.seq = l.seq and e.parked is not null offset 0)
      or exists (select 1 from hookonce.attempts a
        where a.seq = l.seq and a.attempt > l.base_attempt and a.outcome in ('succeeded', 'ignored') offset 0)`,
  },
  orphaned: {
    rows: newestWork,
    broken: 'not exists (select 1 from hookonce.events e where e.seq = l.seq offset 0)',
  },
  bytesMissing: {
    rows: unfinished,
    broken: `exists (
      select 1 from hookonce.events e where e.seq = l.seq and e.erased_at is null
        and not exists (select 1 from hookonce.payloads p
          where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at offset 0) offset 0)`,
  },
  vanished: {
    rows: newestEvents,
    broken: `l.parked is null and l.attempts is null
      and not exists (select 1 from hookonce.work w where w.seq = l.seq offset 0)
      and not exists (select 1 from hookonce.attempts a
        where a.seq = l.seq and a.run = l.run and a.outcome = 'succeeded' offset 0)`,
  },
}

async function inspectRows(db: Database): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [check, { rows, broken }] of Object.entries(checks) as [RowCheck, (typeof checks)[RowCheck]][]) {
    const [row] = await db.read<{ looked: number; broken: string[] }>(
      adhoc(`with looked as materialized (${rows})
       select (select count(*) from looked)::int as looked,
         array(select l.seq from looked l where ${broken} order by l.seq limit ${NAMED_ROWS + 1}) as broken`),
      [],
    )
    findings.push(rowFinding(check, { looked: row!.looked, broken: row!.broken.map(Number) }))
  }
  return findings
}

/** Any complete unique index on the two columns is enough. */
async function inspectUniqueKey(db: Database): Promise<Finding> {
  const rows = await db.read<{ valid: boolean }>(
    adhoc(`select i.indisvalid and i.indisready and i.indislive as valid from pg_index i
     where i.indrelid = 'hookonce.events'::regclass and i.indisunique and i.indpred is null and i.indexprs is null
       and (select array_agg(a.attname::text order by a.attname) from pg_attribute a
         where a.attrelid = i.indrelid and a.attnum = any(i.indkey::int2[])) = array['event_id', 'source']`),
    [],
  )
  const state = rows.length === 0 ? 'missing' : rows.some((row) => row.valid) ? 'valid' : 'not valid'
  const restore = db.inSchema(
    'alter table hookonce.events add constraint events_once unique (source, event_id);',
  )
  return uniqueKeyFinding(
    state,
    state === 'not valid' ? db.inSchema('reindex index hookonce.events_once;') : restore,
  )
}
