/**
 * SQL about rows of the `work` table: the state of an event, leases and lanes.
 *
 * Only the head of a lane, its lowest seq in `work`, is due. The others are parked: their `next_at` lies an hour ahead,
 * and the transaction that deletes the row before them makes them due (`promote_lanes`).
 *
 * A row is parked only under a key-share lock on a row before it. A delete of that row waits for the lock and then looks
 * for the next one with a new snapshot, so it cannot miss the parked row. The lock never waits (skip locked): while the
 * row before is being deleted, the row stays due, and a claim looks at it again.
 */
import { LOOK_AGAIN_MS, PARKED_MS } from '../shared/work.js'

/** With `next_at > clock()` the planner once read every leased row by an index, instead of looking up one row by its key. */
export const alive = "w.next_at - hookonce.clock() > interval '0'"

/** For `events e left join work w` (docs/decisions/0001-tables.md, first table). */
export const stateOf = `case
    when w.seq is null then case e.parked when 'ignored' then 'ignored' when 'dead' then 'failed' else 'succeeded' end
    when w.token is not null and w.next_at > hookonce.clock() then 'processing'
    when w.attempt - w.base_attempt > case when w.token is null then 0 else 1 end then 'failed'
    else 'pending'
  end`

/** The condition that nobody has decided about the other content of an event. The limit keeps the planner from a hash of all conflicts. */
export const hasOpenConflict = `((
    select true from hookonce.conflicts c where c.seq = e.seq and c.decided_at is null limit 1) is true)`

/** The one that a person sees and decides about: an open one hides behind none that was decided about. */
export const shownFirst = 'c.decided_at is null desc, c.number desc'

const interval = (ms: number): string => `interval '${ms} milliseconds'`
export const parkedFor = interval(PARKED_MS)
export const lookAgain = interval(LOOK_AGAIN_MS)

/** Due times less far ahead are not suspicious. */
export const SLACK = interval(5_000)

/** The lock keeps it from being deleted until this transaction ends. */
export const lockBefore = (p: string): string => `(
    select h.seq from hookonce.work h where h.source = ${p}.source and h.lane = ${p}.lane and h.seq < ${p}.seq
    order by h.seq desc limit 1 for key share skip locked
  )`

/** Another row of the lane of `w` is before it or is leased. */
export const blocked = `w.lane is not null and (
      exists (select 1 from hookonce.work h where h.source = w.source and h.lane = w.lane and h.seq < w.seq)
      or exists (select 1 from hookonce.work h where h.source = w.source and h.lane = w.lane and h.seq <> w.seq
        and h.token is not null and h.next_at > hookonce.clock()))`

/**
 * True when the event may be leased: it is the head of its lane, and no other event of the lane is leased. The lock keeps
 * others from leasing an event of the lane until this transaction is committed, and each command of a function has a new
 * snapshot: a lease that was committed before the lock was taken is seen. The lock never waits.
 */
export const createTakeLane = `
create or replace function hookonce.take_lane(of_source text, of_lane text, of_seq bigint) returns boolean language plpgsql as $$
begin
  if not pg_try_advisory_xact_lock('hookonce.work'::regclass::oid::int, hashtext(of_source || chr(10) || of_lane)) then
    return false;
  end if;
  return not exists (
    select 1 from hookonce.work h where h.source = of_source and h.lane = of_lane
      and (h.seq < of_seq or h.seq <> of_seq and h.token is not null and h.next_at > hookonce.clock()));
end $$;
`

/** A due time ahead is then wrong. */
export const waitsForNothing = `w.token is null and w.claimed_at is null and not (${blocked})`

/**
 * Makes the next event of each lane due. Each command of a function has a new snapshot: after the delete, it has an event
 * that was parked while the delete waited for its lock. For the same reason the next event is locked before its time is
 * read.
 */
export const createPromoteLanes = `
create or replace function hookonce.promote_lanes(seqs bigint[], sources text[], lanes text[]) returns void language plpgsql as $$
declare
  heads bigint[];
begin
  select array_agg(n.seq) into heads from unnest(seqs, sources, lanes) as i (seq, source, lane)
  cross join lateral (
    select h.seq from hookonce.work h where h.source = i.source and h.lane = i.lane and h.seq > i.seq
    order by h.seq limit 1 for no key update
  ) n;
  -- One that was claimed before keeps its time: that of its next attempt, or the end of the delay it was released with.
  update hookonce.work w set next_at = hookonce.clock()
  where w.seq = any(heads) and w.token is null and w.claimed_at is null and w.next_at > hookonce.clock();
end $$;
`
