/**
 * The partitions of payloads: months or days, made ahead and on demand, and dropped when retention has passed them.
 */

import { invalid } from '../../errors.js'
import { adhoc, numbers, type Run, type Statement, texts } from './statement.js'

export type PartitionUnit = 'month' | 'day'

export function checkUnit(unit: PartitionUnit): PartitionUnit {
  if (unit !== 'month' && unit !== 'day')
    throw invalid('The option partitions', `must be 'month' or 'day', not "${unit}"`)
  return unit
}

/** $1 instant in ms, or null for now   $2 how many after it   $3 unit */
export const ensurePartitions: Statement = {
  name: 'ensure_partitions',
  sql: `
select name from hookonce.ensure_partitions(coalesce(to_timestamp($1::float8 / 1000), hookonce.clock()), $2::int, $3) as name`,
}

export const countAhead: Statement = {
  name: 'partitions_ahead',
  sql: 'select count(*)::int as ahead from hookonce.payload_partitions() where low > hookonce.clock()',
}

export interface Doomed {
  readonly name: string
  /** Milliseconds, inclusive / exclusive. */
  readonly low: number
  readonly high: number
}

export interface DropLimits {
  readonly unit: PartitionUnit
  /** The sources whose bytes of that time may go. */
  readonly allowed: readonly string[]
  readonly archivedOnly: readonly string[]
  readonly dryRun: boolean
}

/** $1 low, ms   $2 high, ms */
const range =
  'e.received_at >= to_timestamp($1::float8 / 1000) and e.received_at < to_timestamp($2::float8 / 1000)'
const seqs = `
  select min(first_seq) as first, max(last_seq) as last from hookonce.hours
  where hour >= to_timestamp($1::float8 / 1000) and hour < to_timestamp($2::float8 / 1000)`

/** Events of that time that still need their bytes; by seq, so that neither a backlog nor a full log is walked. */
const unfinished = `
  select e.seq, e.payload_seq from (${seqs}) s
  join hookonce.work w on w.seq between s.first and s.last
  join hookonce.events e on e.seq = w.seq where ${range}
  union all
  select e.seq, e.payload_seq from (${seqs}) s
  join hookonce.events e on e.parked = 'dead' and e.seq between s.first and s.last where ${range}`

const findUnfinished = adhoc(`select 1 from (${unfinished}) u limit 1`)
const findLive = adhoc(`select distinct coalesce(payload_seq, seq) as seq from (${unfinished}) u`)
const findSources = adhoc(`
select source from hookonce.hours
where hour >= to_timestamp($1::float8 / 1000) and hour < to_timestamp($2::float8 / 1000)
group by source having sum(recorded) > 0`)

/** Null: it stays. Else how many payloads went. */
export async function dropPartition(run: Run, doomed: Doomed, limits: DropLimits): Promise<number | null> {
  const table = `hookonce."${doomed.name}"`
  const [state] = await run<{ pending: boolean }>(attached, [doomed.name])
  if (state && !state.pending) {
    if (!(await mayGo(run, doomed, limits))) {
      if (!limits.dryRun) await run(forget, [doomed.name])
      return null
    }
    if (limits.dryRun) return count(run, table)
    await run(decide, [doomed.name, doomed.low, doomed.high])
  }
  if (state) {
    // Without CONCURRENTLY every insert would wait behind the longest reader of payloads.
    const how = state.pending ? 'finalize' : 'concurrently'
    await run(adhoc(`alter table hookonce.payloads detach partition ${table} ${how}`), [])
  } else if (!(await there(run, table))) {
    await run(forget, [doomed.name])
    return null
  }
  const payloads = await count(run, table)
  return payloads - (await rescueAndDrop(run, table, doomed, limits))
}

async function mayGo(run: Run, doomed: Doomed, limits: DropLimits): Promise<boolean> {
  if ((await strangers(run, doomed, limits)).length > 0) return false
  return (await run(findUnfinished, [doomed.low, doomed.high])).length === 0
}

const decide = adhoc(`
insert into hookonce.dropping (name, low, high)
values ($1, to_timestamp($2::float8 / 1000), to_timestamp($3::float8 / 1000)) on conflict do nothing`)
const forget = adhoc('delete from hookonce.dropping where name = $1')

/** Sources with events of that time that keep their bytes. */
async function strangers(run: Run, { low, high }: Doomed, { allowed }: DropLimits): Promise<string[]> {
  const rows = await run<{ source: string }>(findSources, [low, high])
  return rows.map((row) => row.source).filter((source) => !allowed.includes(source))
}

const attached = adhoc(`
select i.inhdetachpending as pending from pg_inherits i join pg_class c on c.oid = i.inhrelid
where i.inhparent = 'hookonce.payloads'::regclass and c.relname = $1`)

async function there(run: Run, table: string): Promise<boolean> {
  const [row] = await run<{ there: boolean }>(
    adhoc(`select to_regclass('${table}') is not null as there`),
    [],
  )
  return row!.there
}

/** Up to here counting takes no time worth saving. */
const COUNTED_BYTES = 64 * 1024 * 1024

async function count(run: Run, table: string): Promise<number> {
  const [size] = await run<{ estimate: number; bytes: number }>(
    adhoc(`
select c.reltuples::float8 as estimate, pg_relation_size(c.oid)::float8 as bytes
from pg_class c where c.oid = '${table}'::regclass`),
    [],
  )
  if (size && size.bytes > COUNTED_BYTES && size.estimate >= 0) return Math.round(size.estimate)
  const [counted] = await run<{ rows: number }>(adhoc(`select count(*) as rows from ${table}`), [])
  return counted!.rows
}

/** Answers how many payloads had to stay. */
async function rescueAndDrop(run: Run, table: string, doomed: Doomed, limits: DropLimits): Promise<number> {
  await run(adhoc('begin'), [])
  try {
    const staying = await mustStay(run, table, doomed, limits)
    for (let i = 0; i < staying.length; i += MOVED) {
      const some = numbers(staying.slice(i, i + MOVED))
      await ensureFor(run, table, some, limits.unit)
      await run(move(table), [some])
    }
    await run(adhoc(`drop table ${table}`), [])
    await run(forget, [doomed.name])
    await run(adhoc('commit'), [])
    return staying.length
  } catch (error) {
    await run(adhoc('rollback'), []).catch(() => {})
    throw error
  }
}

const MOVED = 5_000

const move = (table: string) =>
  adhoc(`
insert into hookonce.payloads (seq, received_at, source, headers, body)
select seq, received_at, source, headers, body from ${table} where seq = any($1::bigint[]) on conflict do nothing`)

/** The range may now be that of days: one for each day that has bytes to move. */
async function ensureFor(run: Run, table: string, some: string, unit: PartitionUnit): Promise<void> {
  const days = await run<{ at: number }>(
    adhoc(
      `select distinct date_trunc('day', received_at, 'UTC') as at from ${table} where seq = any($1::bigint[])`,
    ),
    [some],
  )
  for (const { at } of days) await run(ensurePartitions, [at, 0, unit])
}

async function mustStay(run: Run, table: string, doomed: Doomed, limits: DropLimits): Promise<number[]> {
  const times = [doomed.low, doomed.high]
  // Through the index of the partition: there are few of these, and a join might be planned as a walk over all of it.
  const live = await run<{ seq: number }>(findLive, times)
  const needed =
    live.length === 0
      ? []
      : await run<{ seq: number }>(adhoc(`select d.seq from ${table} d where d.seq = any($1::bigint[])`), [
          numbers(live.map((row) => row.seq)),
        ])
  const kept = await strangers(run, doomed, limits)
  const theirs =
    kept.length === 0
      ? []
      : await run<{ seq: number }>(adhoc(`select d.seq from ${table} d where d.source = any($1::text[])`), [
          texts(kept),
        ])
  const unarchived =
    limits.archivedOnly.length === 0
      ? []
      : await run<{ seq: number }>(
          adhoc(`
select d.seq from ${table} d where d.source = any($3::text[]) and d.seq not in (
  select unnest(a.seqs) from hookonce.archived a where a.source = any($3::text[])
    and a.day >= (to_timestamp($1::float8 / 1000) at time zone 'utc')::date
    and a.day < (to_timestamp($2::float8 / 1000) at time zone 'utc')::date)`),
          [...times, texts(limits.archivedOnly)],
        )
  return [...new Set([...needed, ...theirs, ...unarchived].map((row) => row.seq))]
}
