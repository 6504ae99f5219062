import type { Connection } from './connection.js'

/** Selects the references of `e` that are rows, as JSON; null when there are none. */
export const referenceRows = `(
  select nullif(json_group_array(json_array(r.label, r.value)), '[]')
  from hookonce_event_references r where r.seq = e.seq)`

/** The condition that the event `e` has a reference with this value, of any label or of this one. Both name parameters. */
export const hasReference = (e: string, value: string, label: string): string => `(
  (${e}.related_reference = ${value} and (${label} is null or ${e}.reference_label = ${label}))
  or exists (select 1 from hookonce_event_references r
    where r.seq = ${e}.seq and r.value = ${value} and (${label} is null or r.label = ${label})))`

const insert = `
  insert or ignore into hookonce_event_references (seq, label, value)
  select ?1, json_extract(j.value, '$[0]'), json_extract(j.value, '$[1]') from json_each(?2) j`

export function addReferences(log: Connection, seq: number, rows: string | null): void {
  if (rows !== null) log.run(insert, seq, rows)
}
