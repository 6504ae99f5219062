/** Fills a migrated log: finished events of the past two months, a few of them dead or ignored, and a backlog. */
import type pg from 'pg'

const STEP = 500_000
export const SOURCES = 20

export async function fill(client: pg.Client, events: number, backlog: number): Promise<void> {
  await client.query("set synchronous_commit = off; set maintenance_work_mem = '512MB'")
  await client.query("select hookonce.ensure_partitions(now() - interval '60 days', 4, 'month')")
  // Indexes are built after the rows are there: that takes a fraction of the time.
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i where i.indrelid in ('hookonce.events'::regclass, 'hookonce.work'::regclass) and not i.indisunique`,
  )
  for (const { name } of indexes) await client.query(`drop index ${name}`)
  await client.query('alter table hookonce.events drop constraint events_once')
  for (let from = 1; from <= events; from += STEP) {
    const to = Math.min(events, from + STEP - 1)
    await client.query(
      `insert into hookonce.events (seq, batch, received_at, source, event_id, event_type, related_reference, content_hash,
         parked, reason, processed_at)
       select n, n / 64, now() - ($3 - n) * interval '60 days' / $3, 'source-' || n % ${SOURCES}, 'evt_' || md5(n::text),
         'order.' || n % 50, 'customer ' || n % 200000, sha256(n::text::bytea),
         case when n > $4 then null when n % 1000 = 7 then 'dead' when n % 100 = 3 then 'ignored' end,
         case when n <= $4 and n % 100 = 3 then 'no_handler' end,
         case when n <= $4 then now() - ($3 - n) * interval '60 days' / $3 end
       from generate_series($1::bigint, $2::bigint) as n`,
      [from, to, events, events - backlog],
    )
    process.stdout.write(`\rfilled ${to}`)
  }
  process.stdout.write('\n')
  await client.query(
    `insert into hookonce.payloads (seq, received_at, source, headers, body)
     select seq, received_at, source, '{}', repeat('x', 300)::bytea from hookonce.events where seq > $1`,
    [events - backlog],
  )
  await client.query(
    `insert into hookonce.work (seq, source, next_at) select seq, source, received_at from hookonce.events where seq > $1`,
    [events - backlog],
  )
  // Without the trigger: it would change one row of totals for each hour, all in this transaction.
  await client.query('set session_replication_role = replica')
  await client.query(
    `insert into hookonce.hours (source, hour, slot, recorded, ignored, dead, first_seq, last_seq)
     select source, date_trunc('hour', received_at, 'UTC'), 0, count(*), count(*) filter (where parked = 'ignored'),
       count(*) filter (where parked = 'dead'), min(seq), max(seq)
     from hookonce.events group by 1, 2`,
  )
  await client.query(
    `insert into hookonce.totals (source, part, recorded, ignored, dead)
     select source, 0, sum(recorded), sum(ignored), sum(dead) from hookonce.hours group by source`,
  )
  await client.query(
    `insert into hookonce.spans (hour, first_seq, last_seq)
     select hour, min(first_seq), (max(last_seq) / 1000 + 1) * 1000 from hookonce.hours group by hour`,
  )
  await client.query('set session_replication_role = origin')
  await client.query(
    `insert into hookonce.duplicates (seq, count, first_at, last_at, conflicts)
     select n, 1, now(), now(), case when n % 10000 = 0 then 1 else 0 end from generate_series(1, $1::bigint, 1000) as n`,
    [events],
  )
  await client.query(
    `insert into hookonce.conflicts (seq, hash, source, first_at, at, part)
     select d.seq, '1', e.source, d.first_at, d.last_at, 0
     from hookonce.duplicates d join hookonce.events e on e.seq = d.seq where d.conflicts > 0`,
  )
  await client.query("select setval('hookonce.event_seq', $1)", [events])
  await client.query('alter table hookonce.events add constraint events_once unique (source, event_id)')
  for (const { definition } of indexes) await client.query(definition)
  await client.query('vacuum analyze')
  await client.query('set synchronous_commit = on')
}
