/** claim: takes due events. Each gets a new random token; a lease that had run out leaves a `lost` attempt behind. */
import type { ClaimedEvent, ClaimOptions } from '../../model.js'
import type { Database, Statement } from './database.js'
import { texts } from './parameters.js'

const take = (picked: string): string => `
with picked as materialized (${picked}),
lost as (
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
  select seq, attempt, run, worker, claimed_at, next_at, 'lost' from picked where token is not null
),
taken as (
  update hookonce.work w
  set token = gen_random_uuid(), attempt = w.attempt + 1, worker = $1, claimed_at = hookonce.clock(),
    next_at = hookonce.clock() + make_interval(secs => $2::float8 / 1000)
  from picked p where w.seq = p.seq
  returning w.seq, w.token, w.attempt, w.base_attempt, w.run, p.next_at as due_at
)
select t.seq, t.token, t.attempt, t.attempt - t.base_attempt as tries, e.source, e.event_id, e.event_type,
  e.related_reference, e.received_at, t.run, e.part, p.headers, p.body
from taken t
join hookonce.events e on e.seq = t.seq
left join hookonce.payloads p on p.seq = coalesce(e.payload_seq, e.seq) and p.received_at = e.received_at
order by t.due_at, t.seq`

const columns = 'w.seq, w.next_at, w.token, w.attempt, w.run, w.worker, w.claimed_at'

/** $3 sources, $4 how many of each. SKIP LOCKED: what another claim is taking right now is not waited for. */
const claimDue: Statement = {
  name: 'claim_due',
  sql: take(`
  select w.* from unnest($3::text[]) as s (source)
  cross join lateral (
    select ${columns} from hookonce.work w
    where w.source = s.source and w.next_at <= hookonce.clock()
    order by w.next_at, w.seq limit $4
    for update skip locked
  ) w`),
}

/** $3 source, $4 event id: due or not, unless a lease on it is alive. */
const claimOne: Statement = {
  name: 'claim_one',
  sql: take(`
  select ${columns} from hookonce.work w
  where w.seq = (select e.seq from hookonce.events e where e.source = $3 and e.event_id = $4)
    and (w.token is null or w.next_at <= hookonce.clock())
  for update skip locked`),
}

/** The sources that have work, found by jumping from one to the next in the index. */
const sourcesAtWork: Statement = {
  name: 'sources_at_work',
  sql: `
with recursive hop as (
  (select source from hookonce.work order by source limit 1)
  union all
  select (select w.source from hookonce.work w where w.source > h.source order by w.source limit 1)
  from hop h where h.source is not null
)
select source from hop where source is not null`,
}

interface Row {
  seq: number
  token: string
  attempt: number
  tries: number
  source: string
  event_id: string
  event_type: string
  related_reference: string | null
  received_at: number
  run: number
  part: number
  headers: string | null
  body: Buffer | null
}

export function claimer(db: Database): (options: ClaimOptions) => Promise<ClaimedEvent[]> {
  return async ({ worker, limit, leaseMs, sources, event }) => {
    if (event) {
      return (await db.query<Row>(claimOne, [worker, leaseMs, event.source, event.eventId])).map(asClaimed)
    }
    const claimed: ClaimedEvent[] = []
    let open = sources ?? (await db.query<{ source: string }>(sourcesAtWork, [])).map((row) => row.source)
    // Each round gives every source an equal share; a source that took less than its share has no more.
    while (open.length > 0 && claimed.length < limit) {
      const turn = open.slice(0, limit - claimed.length)
      const share = Math.floor((limit - claimed.length) / turn.length)
      const rows = await db.query<Row>(claimDue, [worker, leaseMs, texts(turn), share])
      claimed.push(...rows.map(asClaimed))
      open = turn.filter((source) => rows.filter((row) => row.source === source).length === share)
    }
    return claimed
  }
}

function asClaimed(row: Row): ClaimedEvent {
  return {
    lease: { seq: row.seq, token: row.token },
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    reference: row.related_reference,
    receivedAt: row.received_at,
    attempt: row.attempt,
    tries: row.tries,
    run: row.run,
    part: row.part,
    headers: row.headers === null ? {} : (JSON.parse(row.headers) as Record<string, string>),
    body: row.body,
  }
}
