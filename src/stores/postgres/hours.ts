/** Counters per source and hour of arrival. They answer `stats` and turn a time range into a range of seqs. */
import type { Run, Statement } from './connection/statement.js'

/** SQL aggregates over the rows of a source and hour. */
interface HourChanges {
  readonly recorded?: string
  readonly ignored?: string
  readonly dead?: string
  /** SQL. Concurrent batches of `record` use different slots, so that they do not wait for one row. */
  readonly slot?: string
}

/**
 * `rows`: a table or subquery with source, received_at and seq. Rows are written in the order of their key, so that two
 * transactions cannot wait for each other. Only new events change the range of seqs.
 */
export function countHours(rows: string, changes: HourChanges): string {
  const { recorded = '0', ignored = '0', dead = '0', slot = '0' } = changes
  const seqs = recorded === 'count(*)' ? 'min(seq), max(seq)' : 'null::bigint, null::bigint'
  return `
  insert into hookonce.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
  select source, date_trunc('hour', received_at, 'UTC'), ${slot}, ${recorded}, ${ignored}, ${dead}, ${seqs}
  from ${rows} group by 1, 2 order by 1, 2
  on conflict (source, hour, slot) do update set recorded = h.recorded + excluded.recorded,
    ignored = h.ignored + excluded.ignored, dead = h.dead + excluded.dead,
    first_seq = least(h.first_seq, excluded.first_seq), last_seq = greatest(h.last_seq, excluded.last_seq)`
}

/** Counts the rows that are parked as ignored or dead. */
export const countParked = (list: 'ignored' | 'dead'): string => `count(*) filter (where parked = '${list}')`

/** $1 from, ms   $2 to, ms   $3 source */
const ranged = (table: string) => `
select min(first_seq) as first, max(last_seq) as last from ${table}
where hour >= date_trunc('hour', to_timestamp($1::float8 / 1000), 'UTC') and hour < to_timestamp($2::float8 / 1000)`
const anySource: Statement = { name: 'seq_range', sql: ranged('hookonce.spans') }
const oneSource: Statement = { name: 'seq_range_of', sql: `${ranged('hookonce.hours')} and source = $3` }

/** The lowest and highest seq of the events that arrived in [from, to); null when there are none. */
export async function seqRange(
  run: Run,
  from: number,
  to: number,
  source?: string,
): Promise<{ first: number; last: number } | null> {
  const [row] = await (source === undefined
    ? run<{ first: number | null; last: number | null }>(anySource, [from, to])
    : run<{ first: number | null; last: number | null }>(oneSource, [from, to, source]))
  return row?.first == null || row.last === null ? null : { first: row.first, last: row.last }
}
