/** tail: the log in the order it grew. One writer at a time: the order of the numbers is the order of the commits. */
import type { TailOptions, TailPage } from '../../model.js'
import type { Connection } from './connection.js'
import { eventColumns, toRecord } from './event-row.js'

const lastSeq = "select seq from sqlite_sequence where name = 'hookonce_events'"
const looked = 'select seq, source from hookonce_events where seq > ? order by seq limit ?'
const eventsBySeqs = `${eventColumns} where e.seq in (select value from json_each(?)) order by e.seq`
const missed = 'select 1 from hookonce_pruned where seq > ?1 and (?2 is null or source = ?2) limit 1'

/** How many events of other sources one call passes over. */
const SCAN_AT_MOST = 10_000

export function tail(connection: Connection, now: number, options: TailOptions): TailPage {
  return connection.read(() => look(connection, now, options))
}

function look(connection: Connection, now: number, { after, limit, source }: TailOptions): TailPage {
  const last = Number(connection.prepare(lastSeq).get()?.seq ?? 0)
  if (last <= after) return { events: [], position: after, gap: false }
  const scan = source === undefined ? limit : SCAN_AT_MOST
  const rows = connection.prepare(looked).all(after, scan)
  const seqs = rows
    .filter((row) => source === undefined || row.source === source)
    .slice(0, limit)
    .map((row) => Number(row.seq))
  const found = seqs.length === 0 ? [] : connection.prepare(eventsBySeqs).all(JSON.stringify(seqs))
  return {
    events: found.map((row) => toRecord(row, now)),
    position: seqs.length === limit ? seqs.at(-1)! : rows.length === scan ? Number(rows.at(-1)!.seq) : last,
    gap: after > 0 && connection.prepare(missed).get(after, source ?? null) !== undefined,
  }
}
