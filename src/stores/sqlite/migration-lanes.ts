/** Migration 8: nothing to do here; PostgreSQL hands the turn of a lane on in a function. */
export const lanes = `
select 1;
`
