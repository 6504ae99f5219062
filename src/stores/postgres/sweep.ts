/** A pass over the log in stretches: finds what one call may take, and remembers where the next call goes on. */
import type { Database, Run, Statement } from './database.js'

/** How many seqs one statement looks at, and how many of those one call makes. */
const WINDOW = 20_000
const WINDOWS = 5
/** At most so many removals of each kind in one transaction, whatever the caller's limit. */
export const REMOVALS = 10_000

export interface Sweep<Row> {
  /** $1 source   $2 before, ms   $3 from seq   $4 to seq   $5 limit */
  readonly find: Statement
  readonly source: string
  readonly before: number
  readonly limit: number
  readonly dryRun: boolean
  /** Answers how many of these it has removed: some may have come to life since they were found. */
  readonly remove: (rows: readonly Row[]) => Promise<number>
}

export async function sweepLog<Row extends { seq: number }>(
  db: Database,
  run: Run,
  sweep: Sweep<Row>,
): Promise<{ count: number; more: boolean }> {
  const { find, source, before, dryRun, remove } = sweep
  const limit = dryRun ? sweep.limit : Math.min(sweep.limit, REMOVALS)
  const range = await seqRange(run, source, 0, before)
  if (range === null) return { count: 0, more: false }
  const places = placesOf(db)
  const place = `${find.name} ${source}`
  const start = dryRun ? range.first : Math.max(range.first, places.get(place) ?? 0)
  let found = 0
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = [...(await run<Row>(find, [source, before, from, from + WINDOW, limit - found + 1]))]
    const full = rows.length > limit - found
    if (full) rows.pop()
    found += rows.length
    count += dryRun || rows.length === 0 ? rows.length : await remove(rows)
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call goes on here instead of walking again over what is already bare.
      if (!dryRun) places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) places.delete(place)
  return { count, more: false }
}

/** $1 source   $2 from, ms   $3 to, ms */
const bounds: Statement = {
  name: 'seq_range',
  sql: `
select min(first_seq) as first, max(last_seq) as last from hookonce.hours
where source = $1 and hour >= date_trunc('hour', to_timestamp($2::float8 / 1000), 'UTC')
  and hour < to_timestamp($3::float8 / 1000)`,
}

/** The seqs between which every event that a source received in [from, to) lies; null when there is none. */
export async function seqRange(
  run: Run,
  source: string,
  from: number,
  to: number,
): Promise<{ first: number; last: number } | null> {
  const [row] = await run<{ first: number | null; last: number | null }>(bounds, [source, from, to])
  return row?.first == null || row.last === null ? null : { first: row.first, last: row.last }
}

/** Where the pass over a source has got to. Forgotten when the pass ends, and by a restart: then it starts over. */
const passes = new WeakMap<Database, Map<string, number>>()

function placesOf(db: Database): Map<string, number> {
  let places = passes.get(db)
  if (places === undefined) {
    places = new Map()
    passes.set(db, places)
  }
  return places
}
