import { RUNS_KEPT } from '../../store/reconciles.js'
import type { NewReconcileRun, ReconcileRun } from '../../store.js'
import type { Database } from './connection/database.js'
import { statement } from './connection/statement.js'

/** $1 id   $2 source   $3 report   $4 runs to keep. The rows of this statement are not visible to its own `delete`. */
const note = statement('reconcile_note')`
with noted as (
  insert into hookonce.reconciles (id, source, started_at, updated_at, report)
  values ($1::uuid, $2, hookonce.clock(), hookonce.clock(), $3)
  on conflict (id) do update set updated_at = excluded.updated_at, report = excluded.report
)
delete from hookonce.reconciles where id in (
  select id from hookonce.reconciles where source = $2 and id <> $1::uuid order by started_at desc, id offset $4::int - 1
)`

export async function noteReconcile(db: Database, { id, source, report }: NewReconcileRun): Promise<void> {
  await db.query(note, [id, source, report, RUNS_KEPT])
}

const latest = statement('reconciles')`
select id, source, started_at as "startedAt", updated_at as "updatedAt", report from hookonce.reconciles
where $1::text is null or source = $1 order by started_at desc, id limit $2`

export function reconciles(
  db: Database,
  { source, limit }: { readonly source?: string; readonly limit: number },
): Promise<ReconcileRun[]> {
  return db.read<ReconcileRun>(latest, [source ?? null, limit])
}
