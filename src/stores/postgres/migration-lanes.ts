/** Migration 8: the turn of a lane is handed on by a function of its own. `hookonce.` stands for the configured schema. */
export const lanes = `
-- Makes the next event of a lane due after the event with this seq has left work. Called after the delete, because each
-- command in here has a snapshot of its own: an event that was parked behind the deleted one while the delete waited for
-- its lock is seen. The next one is locked first and looked at afterwards, for the same reason.
create function hookonce.promote_lanes(seqs bigint[], sources text[], lanes text[]) returns void language plpgsql as $$
declare
  heads bigint[];
begin
  select array_agg(n.seq) into heads from unnest(seqs, sources, lanes) as i (seq, source, lane)
  cross join lateral (
    select h.seq from hookonce.work h where h.source = i.source and h.lane = i.lane and h.seq > i.seq
    order by h.seq limit 1 for no key update
  ) n;
  -- One that was claimed before has a time of its own: its next attempt, or the end of the delay it was handed back with.
  update hookonce.work w set next_at = hookonce.clock()
  where w.seq = any(heads) and w.token is null and w.claimed_at is null and w.next_at > hookonce.clock();
end $$;

create or replace function hookonce.settle_succeeded(event_seq bigint, lease uuid, duration_ms float8) returns void language plpgsql as $$
declare
  held record;
begin
  delete from hookonce.work w where w.seq = event_seq and w.token = lease
    and w.next_at - hookonce.clock() > interval '0'
  returning w.source, w.lane, w.attempt, w.run, w.worker into held;
  if not found then
    raise exception 'the lease is dead' using errcode = 'HK001';
  end if;
  insert into hookonce.attempts (seq, attempt, run, worker, started_at, finished_at, outcome)
  values (event_seq, held.attempt, held.run, held.worker, hookonce.clock() - make_interval(secs => duration_ms / 1000),
    hookonce.clock(), 'succeeded');
  if held.lane is not null then
    perform hookonce.promote_lanes(array[event_seq], array[held.source], array[held.lane]);
  end if;
end $$;
`
