/** Where an event stands, in SQL over `events e left join work w` (docs/decisions/0001-tables.md, first table). */
/**
 * The lease of a work row has not run out. Written so that no index serves it: as `next_at > clock()` it once made the
 * planner walk every leased row to find the one that is named by its key.
 */
export const alive = "w.next_at - hookonce.clock() > interval '0'"

export const stateOf = `case
    when w.seq is null then case e.parked when 'ignored' then 'ignored' when 'dead' then 'failed' else 'succeeded' end
    when w.token is not null and w.next_at > hookonce.clock() then 'processing'
    when w.attempt - w.base_attempt > case when w.token is null then 0 else 1 end then 'failed'
    else 'pending'
  end`
