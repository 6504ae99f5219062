/**
 * Migration 9: what is left of events that retention has removed (docs/decisions/0005-tombstones.md). `hookonce.` stands
 * for the configured schema.
 */
export const tombstones = `
create table hookonce.tombstones (
  source text collate "C" not null,
  digest bytea not null,
  left_at timestamptz not null,
  primary key (source, digest)
);
-- A guard whose event was removed: it is its tombstone, and still says whose content this was.
alter table hookonce.guards add column retired_at timestamptz;
`
