/** The contract of a system in the drain, and helpers that all of them use. */
import pg from 'pg'

/** One event to process: about 200 bytes as JSON. */
export interface Item {
  readonly id: string
  readonly amount: number
  readonly note: string
}

export interface System {
  load(items: readonly Item[]): Promise<void>
  /** Starts the workers. `began` gets the number of events of each handler call. The returned function stops them. */
  work(began: (events: number) => void): Promise<() => Promise<void>>
  /** Bytes written to a log other than that of PostgreSQL. */
  logBytes?(): Promise<number>
  close(): Promise<void>
}

export const CONCURRENCY = 16
export const effect = 'insert into effects (event_id, amount) values ($1, $2)'
export const effects = 'insert into effects (event_id, amount) select * from unnest($1::text[], $2::int[])'

export function columnsOf(items: readonly Item[]): [string[], number[]] {
  return [items.map((item) => item.id), items.map((item) => item.amount)]
}

/** For effects outside the system's own transaction. */
export function pool(): pg.Pool {
  return new pg.Pool({ connectionString: process.env.BENCH_POSTGRES!, max: 20 })
}
