/**
 * Long logs, made by SQL inside the database: recording so many events would take hours. The events are 0.24 seconds
 * apart, so that ten million cover four weeks. They are finished, or all of them wait.
 */
import type pg from 'pg'
import { openDatabase } from '#dist/stores/sqlite/driver.js'

const STEP_MS = 240
const PORTION = 200_000

export interface Fill {
  readonly source: string
  readonly type: string
  /** The first seq and the last. */
  readonly from: number
  readonly to: number
  readonly isWaiting: boolean
  progress?(line: string): void
}

const begin = Date.now() - 28 * 86_400_000

/** The body has the id of the event as `id` and its seq as `amount`. */
const bodySql = (n: string, type: string) =>
  `'{"id":"evt_old_' || ${n} || '","type":"${type}","amount":' || ${n} || ',"note":"${'x'.repeat(60)}"}'`

export async function fillPostgres(client: pg.Client, schema: string, fill: Fill): Promise<void> {
  const { source, type, isWaiting } = fill
  await client.query(`select ${schema}.ensure_partitions(to_timestamp(${begin} / 1000.0), 1, 'month')`)
  for (const [from, to] of portions(fill)) {
    const at = `to_timestamp((${begin} + n * ${STEP_MS}.0) / 1000)`
    const numbers = `generate_series(${from}, ${to}) n`
    await client.query(`
      insert into ${schema}.events (seq, batch, received_at, source, event_id, event_type, related_reference)
      select n, 1, ${at}, '${source}', 'evt_old_' || n, '${type}', 'in_' || n from ${numbers};
      insert into ${schema}.payloads (seq, received_at, source, headers, body)
      select n, ${at}, '${source}', '{}', convert_to(${bodySql('n', type)}, 'UTF8') from ${numbers};
      insert into ${schema}.hours as h (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
      select '${source}', date_trunc('hour', ${at}, 'UTC'), 0, count(*), 0, 0, min(n), max(n) from ${numbers} group by 2
      on conflict (source, hour, slot) do update
      set recorded = h.recorded + excluded.recorded, last_seq = excluded.last_seq`)
    if (isWaiting) {
      await client.query(
        `insert into ${schema}.work (seq, source, next_at) select n, '${source}', ${at} from ${numbers}`,
      )
    }
    fill.progress?.(`PostgreSQL filled with ${to.toLocaleString('en-US')} rows`)
  }
  await client.query(`select setval('${schema}.event_seq', ${fill.to})`)
  await client.query('vacuum analyze')
  await client.query('checkpoint')
}

export function fillSqlite(path: string, fill: Fill): void {
  const { source, type } = fill
  const db = openDatabase(path)
  const at = `${begin} + n * ${STEP_MS}`
  for (const [from, to] of portions(fill)) {
    const numbers = `with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${to})`
    db.exec(`begin;
      ${numbers} insert into hookonce_events
        (seq, source, event_id, event_type, related_reference, received_at, part, processing_state)
      select n, '${source}', 'evt_old_' || n, '${type}', 'in_' || n, ${at}, 0, 'succeeded' from numbers;
      ${numbers} insert into hookonce_payloads (seq, received_at, headers, body)
      select n, ${at}, '{}', cast(${bodySql('n', type)} as blob) from numbers;
      ${numbers} insert into hookonce_hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
      select '${source}', (${at}) / 3600000, 0, count(*), 0, 0, min(n), max(n) from numbers where true group by 2
      on conflict do update set recorded = recorded + excluded.recorded, last_seq = excluded.last_seq;
      commit`)
    fill.progress?.(`SQLite filled with ${to.toLocaleString('en-US')} rows`)
  }
  db.exec('pragma wal_checkpoint(truncate)')
  db.close()
}

function portions({ from, to }: Fill): [number, number][] {
  const count = Math.max(0, Math.ceil((to - from + 1) / PORTION))
  return Array.from({ length: count }, (_, i) => [
    from + i * PORTION,
    Math.min(to, from + (i + 1) * PORTION - 1),
  ])
}
