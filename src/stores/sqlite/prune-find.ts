/**
 * What prune may take from one stretch of the log. ?1 source   ?2 before   ?3 from seq   ?4 to seq   ?5 limit. `+` keeps
 * the planner off the indexes by source: they would walk all of a source for one stretch of the log.
 */
import { archivedSeqs } from './archived.js'

const finished = "('succeeded', 'ignored')"

// A payload may serve several events; it goes when none of them can still ask for it.
const oldPayloads = `
  select distinct p.seq
  from hookonce_events e join hookonce_payloads p on p.seq = coalesce(e.payload_seq, e.seq)
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
    and not exists (select 1 from hookonce_events o where o.seq = p.seq and o.processing_state not in ${finished})
    and not exists (select 1 from hookonce_events o where o.payload_seq = p.seq
      and o.processing_state not in ${finished})`

export const findPayloads = `${oldPayloads} limit ?5`
export const findArchivedPayloads = `${oldPayloads} and p.seq in (${archivedSeqs}) limit ?5`

const oldEvents = `
  select e.seq, e.source, e.event_id, e.contests, e.content_hash, e.received_at, e.processing_state,
    coalesce(e.payload_seq, e.seq) as payload_seq
  from hookonce_events e
  where +e.source = ?1 and e.received_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}`

export const findEvents = `${oldEvents} order by e.seq limit ?5`
export const findArchivedEvents = `${oldEvents}
  and (coalesce(e.payload_seq, e.seq) in (${archivedSeqs})
    or not exists (select 1 from hookonce_payloads p where p.seq = coalesce(e.payload_seq, e.seq)))
  order by e.seq limit ?5`

export const findAttempts = `
  select a.seq, a.attempt from hookonce_events e join hookonce_attempts a on a.seq = e.seq
  where +e.source = ?1 and a.finished_at < ?2 and e.seq >= ?3 and e.seq < ?4
    and e.processing_state in ${finished}
  order by a.seq, a.attempt limit ?5`
