/** Migration 14. Published text: it is never changed. `hookonce.` stands for the configured schema. */

/** The digest of an archived object, so that only the same bytes are restored. */
export const receipts = `
alter table hookonce.archived add column if not exists sha256 text;
`
