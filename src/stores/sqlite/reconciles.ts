import { RUNS_KEPT } from '../../store/reconciles.js'
import type { NewReconcileRun, ReconcileRun } from '../../store.js'
import type { Connection } from './connection.js'
import { rowsOf } from './rows.js'

const note = `
  insert into hookonce_reconciles (id, source, started_at, updated_at, report) values (?1, ?2, ?3, ?3, ?4)
  on conflict (id) do update set updated_at = excluded.updated_at, report = excluded.report`
const removeOld = `
  delete from hookonce_reconciles where id in (
    select id from hookonce_reconciles where source = ?1 and id <> ?2 order by started_at desc, id limit -1 offset ?3)`

export function noteReconcile(log: Connection, { id, source, report }: NewReconcileRun): void {
  log.write(() => {
    log.run(note, id, source, log.now, report)
    log.run(removeOld, source, id, RUNS_KEPT - 1)
  })
}

const latest = `
  select id, source, started_at as startedAt, updated_at as updatedAt, report from hookonce_reconciles
  where ?1 is null or source = ?1 order by started_at desc, id limit ?2`

export function reconciles(
  log: Connection,
  { source, limit }: { readonly source?: string; readonly limit: number },
): ReconcileRun[] {
  return rowsOf<ReconcileRun>(log.all(latest, source ?? null, limit))
}
