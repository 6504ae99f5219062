/** Migration 5: nothing here. The time of this store is that of the database server, which all processes share. */
export const clock = `
select 1;
`
