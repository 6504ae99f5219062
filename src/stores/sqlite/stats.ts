/** Statistics from the counters and the work table: the log itself is never read. */
import type { SourceStats } from '../../model.js'
import type { Connection } from './connection.js'

const counted = `
  select source, sum(recorded) as recorded, sum(ignored) as ignored, sum(dead) as dead
  from hookonce_hours group by source order by source`

const waiting = `
  select source, count(*) as work,
    sum(token is not null and next_at > ?1) as processing,
    sum((token is null or next_at <= ?1) and attempt - base_attempt - (token is not null) > 0) as retrying,
    min(case when next_at <= ?1 then next_at end) as oldest_due_at
  from hookonce_work group by source`

export function stats(connection: Connection, now: number): SourceStats[] {
  // One view for both, else an event settled in between would be counted twice or not at all.
  return connection.read(() => {
    const bySource = new Map(
      connection
        .prepare(waiting)
        .all(now)
        .map((row) => [row.source, row]),
    )
    return connection
      .prepare(counted)
      .all()
      .map(({ source, recorded, ignored, dead }) => {
        const row = bySource.get(source!)
        const work = Number(row?.work ?? 0)
        const processing = Number(row?.processing ?? 0)
        const retrying = Number(row?.retrying ?? 0)
        const due = row?.oldest_due_at ?? null
        return {
          source: String(source),
          recorded: Number(recorded),
          pending: work - processing - retrying,
          processing,
          retrying,
          succeeded: Number(recorded) - Number(ignored) - Number(dead) - work,
          ignored: Number(ignored),
          dead: Number(dead),
          oldestDueAt: due === null ? null : Number(due),
        }
      })
  })
}
