/** Migration 9: what is left of events that retention has removed (docs/decisions/0005-tombstones.md). */
export const tombstones = `
create table hookonce_tombstones (
  source text not null,
  digest blob not null,
  left_at integer not null,
  primary key (source, digest)
) strict, without rowid;
-- A guard whose event was removed: it is its tombstone, and still says whose content this was.
alter table hookonce_guards add column retired_at integer;
drop index hookonce_guards_event;
create index hookonce_guards_event on hookonce_guards (source, event_id) where retired_at is null;
`
