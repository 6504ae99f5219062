/**
 * Leases due events: each gets a random token. An expired lease leaves a `lost` attempt. Only the head of a lane is
 * claimed, and only while no other event of the lane is leased. A due row that must not be claimed (of a replayed event,
 * for example) is parked: the next claim then does not read it again. Events whose bodies would not fit beside those of the
 * others are released at once.
 */
import { type ClaimedEvent, type ClaimOptions, type Lease, limits } from '../../model.js'
import { PassedBacklog } from '../shared/passed-backlog.js'
import type { Database } from './connection/database.js'
import { statement, texts } from './connection/statement.js'
import { release } from './leases.js'
import { sweeper } from './sweep.js'
import { blocked, lockBefore, lookAgain, parkedFor } from './work.js'

/** Lost attempts after the last one with another outcome. The one that this statement writes is not among them. */
const lostBefore = `(
    select count(*)::int from hookonce.attempts a
    where a.seq = t.seq and a.attempt > greatest(t.base_attempt, (
      select b.attempt from hookonce.attempts b where b.seq = t.seq and b.outcome <> 'lost' order by b.attempt desc limit 1
    )))`

const take = (picked: string): string => `
with picked as materialized (${picked}),
lost as (
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
  select seq, attempt, run, worker, claimed_at, next_at, 'lost' from picked where token is not null and not blocked
),
taken as (
  update hookonce.work w
  set token = gen_random_uuid(), attempt = w.attempt + 1, worker = $1, claimed_at = hookonce.clock(),
    next_at = hookonce.clock() + make_interval(secs => $2::float8 / 1000)
  from picked p where w.seq = p.seq and not p.blocked
  returning w.seq, w.token, w.attempt, w.base_attempt, w.run, p.next_at, p.token is not null as was_leased
),
parked as (
  -- A row whose lease ran out is left: pushed into the future, the dead lease would come to life again.
  update hookonce.work w set next_at = hookonce.clock() + case when h.seq is null then ${lookAgain} else ${parkedFor} end,
    claimed_at = case when h.seq is null then w.claimed_at end
  from picked p left join lateral ${lockBefore('p')} h on p.blocked
  where w.seq = p.seq and p.blocked and w.token is null and w.next_at <= hookonce.clock()
)
select c.seq, c.token, c.attempt, c.tries, c.losses, c.source, c.event_id, c.event_type, c.related_reference, c.received_at,
  c.run, c.part, c.content_hash, c.next_at, c.payload_seq, c.headers, c.is_left, case when not c.is_left then c.body end as body
from (
  -- The size of a body is known without reading it.
  select t.*, b.headers, b.body,
    coalesce(sum(octet_length(b.body)) over (order by t.next_at, t.seq), 0)
      > greatest(${limits.claimBytes}, coalesce(octet_length(b.body), 0)) as is_left
  from (
    -- One event of a delivery carries its bytes, or a batch of 1,000 events would be sent 1,000 times.
    select t.seq, t.token, t.attempt, t.attempt - t.base_attempt as tries, e.source, e.event_id, e.event_type,
      e.related_reference, e.received_at, t.run, e.part, encode(e.content_hash, 'hex') as content_hash, t.next_at,
      coalesce(e.payload_seq, e.seq) as payload_seq,
      case when t.attempt - t.base_attempt > 1 then ${lostBefore} + t.was_leased::int else 0 end as losses,
      t.token is not null and row_number()
        over (partition by t.token is null, coalesce(e.payload_seq, e.seq) order by t.next_at, t.seq) = 1 as carries
    from (
      -- Not a join of picked and taken: the planner expects a few rows, and would compare each with each.
      select * from taken
      union all
      select seq, null, null, null, run, next_at, false from picked where blocked
    ) t
    join hookonce.events e on e.seq = t.seq
  ) t
  left join hookonce.payloads b on t.carries and b.seq = t.payload_seq and b.received_at = t.received_at
) c
order by c.next_at, c.seq`

const columns = `w.seq, w.source, w.lane, w.next_at, w.token, w.attempt, w.run, w.worker, w.claimed_at,
  w.lane is not null and (${blocked} or not hookonce.take_lane(w.source, w.lane, w.seq)) as blocked`

/**
 * $3 sources   $4 limit for each source   $5 limit in all   $6 floor of each source (ms). A row that another claim is taking
 * is skipped.
 */
const due = (condition: string): string =>
  take(`
  select w.* from unnest($3::text[], $6::float8[]) as s (source, floor)
  cross join lateral (
    select ${columns} from hookonce.work w
    where w.source = s.source and w.next_at >= to_timestamp(s.floor / 1000) and w.next_at <= hookonce.clock() and not (w.token is not null and ${blocked})${condition}
    order by w.next_at, w.seq limit $4
    for no key update skip locked
  ) w limit $5`)

const readClock = statement('claim_clock')`select extract(epoch from hookonce.clock())::float8 * 1000 as now`

const claimDue = statement('claim_due')`${due('')}`

/**
 * $7 sources and types that are left to others. Not a join, for which the planner might read and sort all events: each row
 * of the backlog is looked up alone, in the order of the index.
 */
const claimDueExcept = statement('claim_due_except')`${due(`
      and ((select e.source || chr(10) || e.event_type from hookonce.events e where e.seq = w.seq)
        <> all ($7::text[])) is not false`)}`

/** $3 source   $4 event id. The event need not be due, but must not have a live lease. */
const claimEvent = statement('claim_one')`${take(`
  select ${columns} from hookonce.work w
  where w.seq = (select e.seq from hookonce.events e where e.source = $3 and e.event_id = $4)
    and (w.token is null or w.next_at <= hookonce.clock())
  for no key update skip locked`)}`

/** One index look-up for each source. */
const sourcesAtWork = statement('sources_at_work')`
with recursive hop as (
  (select source from hookonce.work order by source limit 1)
  union all
  select (select w.source from hookonce.work w where w.source > h.source order by w.source limit 1)
  from hop h where h.source is not null
)
select source from hop where source is not null`

interface Row {
  seq: number
  /** Null when an event before it in its lane keeps it from being claimed. */
  token: string | null
  attempt: number
  tries: number
  losses: number
  source: string
  event_id: string
  event_type: string
  related_reference: string | null
  received_at: number
  run: number
  part: number
  content_hash: string | null
  next_at: number
  payload_seq: number
  /** Null in later rows of one `payload_seq` as well. */
  headers: string | null
  body: Buffer | null
  is_left: boolean
}

/**
 * The next claim of a source starts to search at its floor, a due time, for this long. Settled events leave dead rows at
 * the low end of the index, which vacuum cannot remove while an old snapshot is open: each claim of a backlog would read
 * all of them again. Only a full share raises the floor, and a claim that gets less starts from the bottom again, so a
 * row that was committed late, or is due earlier, waits one second at most.
 */
const FLOOR_MS = 1_000

export function claimer(db: Database): (options: ClaimOptions) => Promise<ClaimedEvent[]> {
  const sweep = sweeper(db)
  const floors = new Map<string, { readonly at: number; readonly until: number }>()
  const passed = new PassedBacklog()

  function floorOf(source: string): number {
    const floor = floors.get(source)
    if (floor && floor.until > performance.now()) return floor.at
    floors.delete(source)
    return 0
  }

  return async ({ worker, limit, leaseMs, sources, except = [], event }) => {
    if (event) {
      return claimedEvents(await db.query<Row>(claimEvent, [worker, leaseMs, event.source, event.id]))
    }
    const leftOut = texts(except.map(({ source, type }) => `${source}\n${type}`))
    const leftOf = (source: string) =>
      except.some((one) => one.source === source) ? JSON.stringify(except) : null
    const isNew = (source: string) => leftOf(source) !== null && passed.before(source, leftOf(source)) === 0
    const claimed: ClaimedEvent[] = []
    const served = sources ?? (await db.query<{ source: string }>(sourcesAtWork, [])).map((row) => row.source)
    await sweep(served).catch(() => {}) // the claim says what is wrong
    const [clock] = served.some(isNew) ? await db.query<{ now: number }>(readClock, []) : []
    let waiting = shuffled(served)
    // A source that fills less than its equal share has no more due events.
    while (waiting.length > 0 && claimed.length < limit) {
      const room = limit - claimed.length
      const share = Math.max(1, Math.floor(room / waiting.length))
      const from = waiting.map(floorOf)
      const starts = waiting.map((source, i) => Math.max(from[i]!, passed.before(source, leftOf(source))))
      const given = [worker, leaseMs, texts(waiting), share, room, starts]
      const rows = await (except.length === 0
        ? db.query<Row>(claimDue, given)
        : db.query<Row>(claimDueExcept, [...given, leftOut]))
      claimed.push(...claimedEvents(rows))
      const left = rows.filter((row) => row.is_left)
      if (left.length > 0) {
        await release(db, left.map(leaseOf), 0).catch(() => {}) // they are due again when their leases expire
        return claimed
      }
      const cutOff = rows.length === room
      waiting = waiting.filter((source, i) => {
        const own = rows.filter((row) => row.source === source)
        const full = own.length === share
        if (full) raise(source, own.at(-1)!.next_at)
        else if (!cutOff) {
          floors.delete(source)
          if (clock && from[i] === 0) passed.note(source, leftOf(source), clock.now)
        }
        // The limit in all may leave sources unread. Blocked rows are parked, so the loop ends.
        return cutOff || full || from[i]! > 0
      })
    }
    return claimed
  }

  function raise(source: string, at: number): void {
    const until = floors.get(source)?.until ?? performance.now() + FLOOR_MS
    floors.set(source, { at, until })
  }
}

/** No source must always be last when there are more sources than places. */
function shuffled(sources: readonly string[]): string[] {
  return sources
    .map((source) => [Math.random(), source] as const)
    .sort(([a], [b]) => a - b)
    .map(([, source]) => source)
}

function claimedEvents(rows: readonly Row[]): ClaimedEvent[] {
  const payloads = new Map<number, Pick<Row, 'headers' | 'body'>>()
  return rows.flatMap((row) => {
    if (row.token === null || row.is_left) return []
    if (!payloads.has(row.payload_seq)) payloads.set(row.payload_seq, row)
    return [asClaimed(row, payloads.get(row.payload_seq)!)]
  })
}

function leaseOf({ seq, token }: Row): Lease {
  return { seq, token: token! }
}

function asClaimed(row: Row, { headers, body }: Pick<Row, 'headers' | 'body'>): ClaimedEvent {
  return {
    lease: leaseOf(row),
    source: row.source,
    id: row.event_id,
    type: row.event_type,
    reference: row.related_reference,
    receivedAt: row.received_at,
    attempt: row.attempt,
    tries: row.tries,
    losses: row.losses,
    run: row.run,
    part: row.part,
    contentHash: row.content_hash,
    headers: headers === null ? {} : (JSON.parse(headers) as Record<string, string>),
    body,
  }
}
