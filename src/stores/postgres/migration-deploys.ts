/** Migration 10: old and new processes side by side on one log. `hookonce.` stands for the configured schema. */
export const deploys = `
-- compatible_from: the oldest schema number a process must know to work with this migration. version: of the hookonce
-- that applied it.
alter table hookonce.migrations add column compatible_from int, add column version text;
`
