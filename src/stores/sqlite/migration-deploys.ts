/** Migration 10: old and new processes side by side on one log. */
export const deploys = `
-- compatible_from: the oldest schema number a process must know to work with this migration. version: of the hookonce
-- that applied it.
alter table hookonce_migrations add column compatible_from integer;
alter table hookonce_migrations add column version text;
`
