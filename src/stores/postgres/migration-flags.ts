/**
 * Migration 6: events that repeat the signed content of another, and events whose id was contested. `hookonce.` stands
 * for the configured schema.
 */
export const flags = `
-- same_as: the event whose signed content it repeats. contests: the id it was delivered under, which other signed
-- content had taken.
alter table hookonce.events add column same_as text collate "C", add column contests text collate "C";
-- Few rows. The first answers "is any event the same as this one?" when an id is contested.
create index events_same_as on hookonce.events (source, same_as) where same_as is not null;
create index events_flagged on hookonce.events (seq) where same_as is not null or contests is not null;
`
