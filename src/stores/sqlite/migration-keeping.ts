/** Migration 4: what keeping and letting go need. */
export const keeping = `
-- Set for every event of a delivery whose bytes were erased: nothing brings them back.
alter table hookonce_events add column erased_at integer;

-- Which bytes are in an object of an archive that was read back and verified; seqs is a JSON list.
create table hookonce_archived (
  source text not null,
  day text not null,
  object integer not null,
  first_seq integer not null,
  last_seq integer not null,
  seqs text not null,
  primary key (source, day, object)
) strict;
create index hookonce_archived_seqs on hookonce_archived (source, last_seq);
`
