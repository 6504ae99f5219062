/** Where an event stands, in SQL over `events e left join work w` (docs/decisions/0001-tables.md, first table). */
export const stateOf = `case
    when w.seq is null then case e.parked when 'ignored' then 'ignored' when 'dead' then 'failed' else 'succeeded' end
    when w.token is not null and w.next_at > hookonce.clock() then 'processing'
    when w.attempt - w.base_attempt > case when w.token is null then 0 else 1 end then 'failed'
    else 'pending'
  end`
