/** Statistics from counters and from small indexes over the work rows: neither the log nor the backlog is read. */
import type { SourceStats } from '../../model.js'
import type { Connection } from './connection.js'

const totals = `
  select source, recorded, ignored, dead, work from hookonce_totals where recorded > 0 order by source`

const leased = `
  select sum(next_at > ?2) as processing, sum(next_at <= ?2 and attempt - base_attempt > 1) as lost
  from (select next_at, attempt, base_attempt from hookonce_work where source = ?1 and token is not null limit ?3)`

const retrying = `
  select count(*) as n
  from (select 1 from hookonce_work where source = ?1 and token is null and attempt > base_attempt limit ?2)`

const oldestDue = `
  select next_at from hookonce_work where source = ?1 and next_at <= ?2 order by next_at limit 1`

/** Rows counted of each kind and source. */
const COUNTED = 50_000

export function stats(connection: Connection, now: number): SourceStats[] {
  // One view for all, else an event settled in between would be counted twice or not at all.
  return connection.read(() =>
    connection
      .prepare(totals)
      .all()
      .map((row) => {
        const source = String(row.source)
        const held = connection.prepare(leased).get(source, now, COUNTED)
        const waiting = Number(connection.prepare(retrying).get(source, COUNTED)!.n)
        const due = connection.prepare(oldestDue).get(source, now)
        const processing = Number(held?.processing ?? 0)
        const failed = Number(held?.lost ?? 0) + waiting
        const work = Number(row.work)
        return {
          source,
          recorded: Number(row.recorded),
          pending: work - processing - failed,
          processing,
          retrying: failed,
          succeeded: Number(row.recorded) - Number(row.ignored) - Number(row.dead) - work,
          ignored: Number(row.ignored),
          dead: Number(row.dead),
          oldestDueAt: due === undefined ? null : Number(due.next_at),
          ...(waiting === COUNTED && { estimated: true as const }),
        }
      }),
  )
}
