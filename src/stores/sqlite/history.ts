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
import { rowsOf } from './rows.js'

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

export function addHistory(log: Connection, { counts, process }: HistoryNote): void {
  log.write(() => {
    const statement = log.prepare(add)
    for (const { stepMs, keptMs } of historyLevels) {
      const at = log.now - (log.now % stepMs)
      for (const { source, name, value } of counts) statement.run(stepMs, at, source, name, value)
      log.run(removeOld, stepMs, log.now - keptMs)
    }
    log.run(noteProcess, process.id, JSON.stringify(process), log.now)
    log.run(removeProcesses, log.now - PROCESS_KEPT_MS)
  })
}

// ?1 level  ?2 from  ?3 to  ?4 step. Parts of a distribution are summed over the whole range.
const sums = `
  select h.source, h.name, sum(h.value) as value,
    case when substr(h.name, 1, 1) = '${DISTRIBUTION}' then ?2 else h.at - (h.at - ?2) % ?4 end as at
  from hookonce_history h where h.level = ?1 and h.at >= ?2 and h.at < ?3
  group by 1, 2, 4 order by 1, 2, 4`
const oldest = 'select at from hookonce_history where level = ? order by at limit 1'

export function readHistory(log: Connection, { from, to, stepMs }: HistoryRange): HistoryReport {
  const level = levelOf(stepMs)
  return log.read(() => {
    const since = log.get(oldest, level)
    return {
      cells: rowsOf<HistoryReport['cells'][number]>(log.all(sums, level, from, to, stepMs)),
      since: since === undefined ? null : Number(since.at),
      now: log.now,
    }
  })
}

const latest = `
  select facts, started_at, seen_at from hookonce_processes where seen_at >= ? order by seen_at desc limit 1000`

export function processes(log: Connection): ProcessSeen[] {
  return log.all(latest, log.now - PROCESS_KEPT_MS).map((row) => ({
    ...(JSON.parse(String(row.facts)) as ProcessFacts),
    startedAt: Number(row.started_at),
    seenAt: Number(row.seen_at),
  }))
}

const alive = 'select facts from hookonce_processes where seen_at >= ?'

export function handled(log: Connection): HandledTypes[] {
  const rows = log.all(alive, log.now - HANDLED_MS)
  return typesHandled(rows.map((row) => String(row.facts)))
}
