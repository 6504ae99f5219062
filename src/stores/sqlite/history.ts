/** The `history` capability: counts by time, and the processes that write them. */
import {
  DISTRIBUTION,
  HANDLED_MS,
  type HandledTypes,
  type HistoryNote,
  type HistoryRange,
  type HistoryReport,
  historyLevels,
  levelOf,
  PROCESS_KEPT_MS,
  type ProcessFacts,
  type ProcessSeen,
  typesHandled,
} from '../../store/history.js'
import type { Connection } from './connection.js'

const add = `
  insert into hookonce_history (level, at, source, name, value) values (?, ?, ?, ?, ?)
  on conflict (level, at, source, name) do update set value = value + excluded.value`
const noteProcess = `
  insert into hookonce_processes (id, facts, started_at, seen_at) values (?1, ?2, ?3, ?3)
  on conflict (id) do update set facts = excluded.facts, seen_at = excluded.seen_at`
const removeOld = `
  delete from hookonce_history where (level, at, source, name) in (
    select level, at, source, name from hookonce_history where level = ? and at < ? limit 1000)`
const removeProcesses = 'delete from hookonce_processes where seen_at < ?'

export function addHistory(connection: Connection, now: number, { counts, process }: HistoryNote): void {
  connection.write(() => {
    const statement = connection.prepare(add)
    for (const { stepMs, keptMs } of historyLevels) {
      const at = now - (now % stepMs)
      for (const { source, name, value } of counts) statement.run(stepMs, at, source, name, value)
      connection.prepare(removeOld).run(stepMs, now - keptMs)
    }
    connection.prepare(noteProcess).run(process.id, JSON.stringify(process), now)
    connection.prepare(removeProcesses).run(now - PROCESS_KEPT_MS)
  })
}

// ?1 level  ?2 from  ?3 to  ?4 step. Parts of a distribution are summed over the whole range.
const sums = `
  select source, name, sum(value) as value,
    case when substr(name, 1, 1) = '${DISTRIBUTION}' then ?2 else at - (at - ?2) % ?4 end as bucket
  from hookonce_history where level = ?1 and at >= ?2 and at < ?3
  group by source, name, bucket order by source, name, bucket`
const oldest = 'select at from hookonce_history where level = ? order by at limit 1'

export function readHistory(
  connection: Connection,
  now: number,
  { from, to, stepMs }: HistoryRange,
): HistoryReport {
  const level = levelOf(stepMs)
  return connection.read(() => {
    const since = connection.prepare(oldest).get(level)
    return {
      cells: connection
        .prepare(sums)
        .all(level, from, to, stepMs)
        .map((row) => ({
          source: String(row.source),
          name: String(row.name),
          value: Number(row.value),
          at: Number(row.bucket),
        })),
      since: since === undefined ? null : Number(since.at),
      now,
    }
  })
}

const latest = `
  select facts, started_at, seen_at from hookonce_processes where seen_at >= ? order by seen_at desc limit 1000`

export function processes(connection: Connection, now: number, _args: undefined): ProcessSeen[] {
  return connection
    .prepare(latest)
    .all(now - PROCESS_KEPT_MS)
    .map((row) => ({
      ...(JSON.parse(String(row.facts)) as ProcessFacts),
      startedAt: Number(row.started_at),
      seenAt: Number(row.seen_at),
    }))
}

const alive = 'select facts from hookonce_processes where seen_at >= ?'

export function handled(connection: Connection, now: number, _args: undefined): HandledTypes[] {
  const rows = connection.prepare(alive).all(now - HANDLED_MS)
  return typesHandled(rows.map((row) => String(row.facts)))
}
