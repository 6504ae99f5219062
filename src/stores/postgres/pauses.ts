import type { NewPause, Pause } from '../../store/pauses.js'
import { ALL_TYPES, pauseAudit } from '../shared/pauses.js'
import type { Database } from './connection/database.js'
import { statement } from './connection/statement.js'

/** $1 source   $2 type   $3 actor   $4 note   $5 note of the audit. The change and its audit are one commit. */
const add = statement('pause')`
with changed as (
  insert into hookonce.pauses (source, event_type, actor, note, at) values ($1, $2, $3, $4, hookonce.clock())
  on conflict (source, event_type) do nothing returning source, actor
),
audited as (
  insert into hookonce.audit (at, actor, verb, source, note)
  select hookonce.clock(), actor, 'pause', source, $5 from changed
)
select count(*)::int as changed from changed`

/** As above, without $4. */
const remove = statement('resume')`
with changed as (
  delete from hookonce.pauses where source = $1 and event_type = $2 returning source
),
audited as (
  insert into hookonce.audit (at, actor, verb, source, note)
  select hookonce.clock(), $3, 'resume', source, $4 from changed
)
select count(*)::int as changed from changed`

const all = statement('pauses')`
select source, nullif(event_type, '${ALL_TYPES}') as type, actor, note, at from hookonce.pauses order by source, event_type`

export async function pause(db: Database, wanted: NewPause): Promise<boolean> {
  const { source, type, actor, note } = wanted
  const values = [source, type ?? ALL_TYPES, actor, note, pauseAudit('pause', wanted).note]
  const [row] = await db.query<{ changed: number }>(add, values)
  return row!.changed === 1
}

export async function resume(db: Database, wanted: NewPause): Promise<boolean> {
  const { source, type, actor } = wanted
  const values = [source, type ?? ALL_TYPES, actor, pauseAudit('resume', wanted).note]
  const [row] = await db.query<{ changed: number }>(remove, values)
  return row!.changed === 1
}

export function listPauses(db: Database): Promise<Pause[]> {
  return db.read<Pause>(all, [])
}
