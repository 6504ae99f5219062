/** The invariants of the log, each looked for in a bounded number of its newest rows. */
import type { Finding } from '../../store.js'
import {
  INSPECTED_ROWS,
  NAMED_ROWS,
  type RowCheck,
  rowFinding,
  uniqueKeyFinding,
} from '../shared/findings.js'
import type { Database, Statement } from './database.js'

const adhoc = (sql: string): Statement => ({ name: '', sql })

const newestEvents = `select seq, parked, attempts, run, count(*) over (partition by source, event_id) as copies
  from (select * from hookonce.events order by seq desc limit ${INSPECTED_ROWS}) e`
const newestWork = `select seq, base_attempt from hookonce.work order by seq desc limit ${INSPECTED_ROWS}`
const unfinished = `(${newestWork})
  union all (select seq, 0 from hookonce.events where parked = 'dead' limit ${INSPECTED_ROWS})`

/** Where each looks, and what breaks it, said of a row `l` found there. */
const checks: Readonly<Record<RowCheck, { rows: string; broken: string }>> = {
  twice: { rows: newestEvents, broken: 'l.copies > 1' },
  reopened: {
    rows: newestWork,
    // An operator's new start moves base_attempt past all attempts there were.
    broken: `exists (select 1 from hookonce.events e where e.seq = l.seq and e.parked is not null)
      or exists (select 1 from hookonce.attempts a
        where a.seq = l.seq and a.attempt > l.base_attempt and a.outcome in ('succeeded', 'ignored'))`,
  },
  orphaned: {
    rows: newestWork,
    broken: 'not exists (select 1 from hookonce.events e where e.seq = l.seq)',
  },
  bytesMissing: {
    rows: unfinished,
    // Retention may take the bytes of what is finished; when an operator then starts it again, it has none.
    broken: `l.base_attempt = 0 and exists (
      select 1 from hookonce.events e where e.seq = l.seq and e.run = 1 and e.erased_at is null
        and not exists (select 1 from hookonce.payloads p
          where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at)
        and not exists (select 1 from hookonce.audit a
          where a.event_id = e.event_id and a.source = e.source and a.verb in ('retry', 'replay')))`,
  },
  vanished: {
    rows: newestEvents,
    broken: `l.parked is null and l.attempts is null
      and not exists (select 1 from hookonce.work w where w.seq = l.seq)
      and not exists (select 1 from hookonce.attempts a
        where a.seq = l.seq and a.run = l.run and a.outcome = 'succeeded')`,
  },
}

export async function inspectRows(db: Database): Promise<Finding[]> {
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

/** Whatever its name: any complete unique index on these two columns keeps the promise. */
export async function inspectUniqueKey(db: Database): Promise<Finding> {
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
