/** Flushes of the write-ahead log of PostgreSQL: what a commit waits for. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** A backend that is idle reports its counts after at most ten seconds. */
const REPORTED_MS = 11_000

/** The number of flushes so far. NaN where the server does not tell. `now`: without those that are not reported yet. */
export async function walFlushes(url: string, now = false): Promise<number> {
  if (!now) await sleep(REPORTED_MS)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ flushes: string }>(
      "select coalesce(sum(fsyncs), 0) as flushes from pg_stat_io where object = 'wal'",
    )
    return Number(rows[0]!.flushes)
  } catch {
    return Number.NaN
  } finally {
    await client.end()
  }
}
