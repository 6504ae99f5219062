/** Selects the references of `e` that are rows, as JSON; null when there are none. */
export const referenceRows = `(
  select json_agg(json_build_array(r.label, r.value) order by r.label, r.value)::text
  from hookonce.event_references r where r.seq = e.seq)`

/** The condition that the event `e` has a reference with this value, of any label or of this one. Both name parameters. */
export const hasReference = (e: string, value: string, label: string): string => `(
  (${e}.related_reference = ${value} and (${label}::text is null or ${e}.reference_label = ${label}))
  or exists (select 1 from hookonce.event_references r
    where r.seq = ${e}.seq and r.value = ${value} and (${label}::text is null or r.label = ${label})))`

/**
 * Inserts the rows of `from`, which has the columns `seq` and `rows` (JSON or null). A lateral call reads each event once,
 * whatever the planner expects.
 */
export const insertReferences = (from: string): string => `
  insert into hookonce.event_references (seq, label, value)
  select f.seq, r.pair->>0, r.pair->>1
  from (${from}) f cross join lateral json_array_elements(f.rows::json) as r (pair)
  on conflict do nothing`
