/** Migration 5: the newest time written into the log, so that its time never runs backwards. */
export const clock = `
create table hookonce_clock (
  id integer primary key check (id = 1),
  at integer not null
) strict;
insert into hookonce_clock (id, at)
  values (1, coalesce((select received_at from hookonce_events order by seq desc limit 1), 0));
`
