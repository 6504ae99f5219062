import { followedSource } from '../../model.js'
import type { Consumer, ConsumerCopy, NewConsumer } from '../../store.js'
import type { Database } from './connection/database.js'
import { numbers, statement, texts } from './connection/statement.js'
import { countHours } from './hours.js'
import { announced } from './record-sql.js'
import { lockBefore, parkedFor } from './work.js'

/** $1 sources   $2 followed sources   $3 received since, ms; null for now */
const openAll = statement('consumers_open')`
insert into hookonce.consumers (source, position, started_at)
select c.source, coalesce(f.seq - 1, hookonce.horizon()), hookonce.clock()
from unnest($1::text[], $2::text[], $3::float8[]) as c (source, followed, since_ms)
left join lateral (
  select min(e.seq) as seq from hookonce.events e
  where c.since_ms is not null and e.source = c.followed and e.received_at >= to_timestamp(c.since_ms / 1000)
    and e.seq >= (select min(h.first_seq) from hookonce.hours h
      where h.source = c.followed and h.hour >= date_trunc('hour', to_timestamp(c.since_ms / 1000), 'UTC'))
) f on true
order by c.source
on conflict (source) do nothing`

export async function openConsumers(db: Database, consumers: readonly NewConsumer[]): Promise<void> {
  await db.query(openAll, [
    texts(consumers.map(({ source }) => source)),
    texts(consumers.map(({ source }) => followedSource(source))),
    numbers(consumers.map(({ from }) => (from === 'now' ? null : from))),
  ])
}

const all = statement('consumers')`
select source, position, started_at as "startedAt" from hookonce.consumers order by source`

export function listConsumers(db: Database): Promise<Consumer[]> {
  return db.read<Consumer>(all, [])
}

/**
 * $1 source   $2 position before   $3 position after   $4 seqs   $5 lanes
 *
 * The lock on the position lets one process copy at a time; another one then finds it moved. A withheld event waits for the
 * same decision at each consumer.
 */
const copy = statement('consumer_copy')`
with moved as (
  update hookonce.consumers set position = $3 where source = $1 and position = $2 returning 1
),
wanted as materialized (
  select e.*, i.lane as own_lane, i.n from unnest($4::bigint[], $5::text[]) with ordinality as i (seq, lane, n)
  cross join lateral (select * from hookonce.events e where e.seq = i.seq limit 1) e
  where (select count(*) from moved) = 1 and e.erased_at is null and exists (
    select 1 from hookonce.payloads p where p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at offset 0)
),
${announced},
numbered as materialized (
  select w.*, w.withheld is true as waits, nextval((select sequence from announced)) as copy_seq
  from (select * from wanted order by n) w
),
added as (
  insert into hookonce.events (seq, payload_seq, batch, received_at, part, source, event_id, event_type, related_reference,
    reference_label, content_hash, lane, same_as, origin, parked, withheld, reason, processed_at)
  select copy_seq, coalesce(payload_seq, seq), batch, received_at, part, $1, event_id, event_type, related_reference,
    reference_label, content_hash, own_lane, case when waits then same_as end, origin, case when waits then 'ignored' end, withheld,
    case when waits then reason end, case when waits then hookonce.clock() end
  from numbered order by event_id
  on conflict (source, event_id) do nothing
  returning seq
),
placed as materialized (
  select copy_seq as seq, seq as copied_seq, $1::text as source, received_at, waits, own_lane as lane
  from numbered where (copy_seq in (select seq from added)) is true
),
referred as (
  insert into hookonce.event_references (seq, label, value)
  select p.seq, r.label, r.value from placed p
  cross join lateral (select * from hookonce.event_references r where r.seq = p.copied_seq offset 0) r
),
queued as (
  insert into hookonce.work (seq, source, next_at, lane)
  select p.seq, p.source, hookonce.clock() + case when p.nth > 1 or h.seq is not null then ${parkedFor} else interval '0' end, p.lane
  from (
    select *, case when lane is not null then row_number() over (partition by lane order by seq) end as nth
    from placed where not waits
  ) p left join lateral ${lockBefore('p')} h on p.nth = 1
  order by p.seq
),
counted as (${countHours('placed', { recorded: 'count(*)', ignored: 'count(*) filter (where waits)' })}
)
select (select count(*) from moved)::int as moved, (select count(*) from placed)::int as copied`

/** `copied` events were written to the log; null when the position was another one. */
export async function copyToConsumer(
  db: Database,
  { source, from, to, events }: ConsumerCopy,
): Promise<number | null> {
  const [row] = await db.query<{ moved: number; copied: number }>(copy, [
    source,
    from,
    to,
    numbers(events.map(({ seq }) => seq)),
    texts(events.map(({ lane }) => lane)),
  ])
  return row!.moved === 1 ? row!.copied : null
}
