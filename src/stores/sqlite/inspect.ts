import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
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
import { type Connection, IN_MEMORY, logTime } from './connection.js'
import { latest, newerMigrations, schemaFound } from './migrate.js'

export function inspect(log: Connection, { path }: { path: string }): Inspection {
  return log.read(() => {
    const [found, known] = [schemaFound(log), latest()]
    const newer = found > known ? newerMigrations(log) : []
    const schema = { found, known, ...(newer.length > 0 && { needed: neededBy(newer) }) }
    // The tables of another version are unknown here; the schema numbers tell the user what to do.
    const invariants = found === known ? [uniqueKey(log), ...rows(log)] : []
    const time = found === known ? logTime(log, log.now) : log.now
    return {
      schema,
      now: time,
      settings: settings(log, path),
      invariants,
      transactions: null,
      partitionsAhead: null,
    }
  })
}

function settings(log: Connection, path: string): Finding[] {
  const value = (name: string) => String(log.get(`pragma ${name}`)?.[name])
  const [mode, synchronous] = [value('journal_mode'), value('synchronous')]
  const inMemory = path === IN_MEMORY
  const memory = 'Nothing in memory outlives the process. Use a file for anything but tests.'
  const local = 'Put the file on a local disk: a commit is not on disk when it returns.'
  return [
    setting('journal_mode', mode, mode === 'wal', inMemory ? memory : local),
    // A connection without these settings is refused when it is opened.
    setting('synchronous', synchronous === '2' ? 'full' : synchronous, synchronous === '2', local),
    ...(inMemory ? [] : [writable(path)]),
  ]
}

/** The folder must be writable too, because SQLite creates the write-ahead log beside the file. */
function writable(path: string): Finding {
  const fix = 'The file must be there, and the process must have the right to write to it and to its folder.'
  const places = [path, dirname(path)].filter((place) => !canWrite(place))
  return setting(
    'writable',
    places.length === 0 ? 'yes' : `not ${places.join(', ')}`,
    places.length === 0,
    fix,
  )
}

function canWrite(place: string): boolean {
  try {
    accessSync(place, constants.W_OK)
    return true
  } catch {
    return false
  }
}

const newestEvents = `select seq, processing_state, parked, count(*) over (partition by source, event_id) as copies
  from (select * from hookonce_events order by seq desc limit ${INSPECTED_ROWS})`
const newestWork = `select seq from hookonce_work order by seq desc limit ${INSPECTED_ROWS}`
const unfinished = `select * from (${newestWork})
  union all select * from (select seq from hookonce_events where parked = 'dead' limit ${INSPECTED_ROWS})`

/** `rows`: what a check reads. `broken`: the condition on such a row `l` that breaks the invariant. */
const checks: Readonly<Record<RowCheck, { rows: string; broken: string }>> = {
  twice: { rows: newestEvents, broken: 'l.copies > 1' },
  reopened: {
    rows: newestWork,
    broken: `exists (select 1 from hookonce_events e where e.seq = l.seq
      and (e.parked is not null or e.processing_state in ('succeeded', 'ignored')))`,
  },
  orphaned: {
    rows: newestWork,
    broken: 'not exists (select 1 from hookonce_events e where e.seq = l.seq)',
  },
  bytesMissing: {
    rows: unfinished,
    broken: `exists (
      select 1 from hookonce_events e where e.seq = l.seq and e.erased_at is null
        and not exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)))`,
  },
  vanished: {
    rows: newestEvents,
    broken: `l.parked is null and l.processing_state <> 'succeeded'
      and not exists (select 1 from hookonce_work w where w.seq = l.seq)`,
  },
}

function rows(log: Connection): Finding[] {
  return (Object.keys(checks) as RowCheck[]).map((check) => {
    const { rows, broken } = checks[check]
    const looked = log.get(`select count(*) as looked from (${rows})`)
    const found = log.all(
      `with looked as (${rows}) select l.seq from looked l where ${broken} order by l.seq limit ${NAMED_ROWS + 1}`,
    )
    return rowFinding(check, { looked: Number(looked?.looked), broken: found.map((row) => Number(row.seq)) })
  })
}

const uniqueOnKey = `
  select 1 from pragma_index_list('hookonce_events') i where i."unique" = 1 and i.partial = 0
    and (select json_group_array(name) from (select name from pragma_index_info(i.name) order by name))
      = '["event_id","source"]'`

function uniqueKey(log: Connection): Finding {
  const valid = log.get(uniqueOnKey) !== undefined
  return uniqueKeyFinding(
    valid ? 'valid' : 'missing',
    'create unique index hookonce_events_once on hookonce_events (source, event_id);',
  )
}

export function look(log: Connection): void {
  log.read(() => log.get('select 1 from hookonce_events limit 1'))
}

/** Commits, to notice a full disk, and then deletes, to free the pages. */
export function probe(log: Connection, bytes: number): void {
  log.write(() =>
    log.run('insert or replace into hookonce_probe (id, filler) values (1, zeroblob(?))', bytes),
  )
  log.write(() => log.run('delete from hookonce_probe'))
}
