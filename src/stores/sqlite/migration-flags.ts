/** Migration 6: events that repeat the signed content of another, and events whose id was contested. */
export const flags = `
-- same_as: the event whose signed content it repeats. contests: the id it was delivered under, which other signed
-- content had taken. guard_hash: only where the row does not hold its guard (hookonce_guards), so that most have none.
alter table hookonce_events add column same_as text;
alter table hookonce_events add column contests text;
alter table hookonce_events add column guard_hash blob;
-- Few rows. The first answers "is any event the same as this one?" when an id is contested.
create index hookonce_events_same_as on hookonce_events (source, same_as) where same_as is not null;
create index hookonce_events_flagged on hookonce_events (seq) where same_as is not null or contests is not null;
`
