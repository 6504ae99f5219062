import type { NewPause, Pause } from '../../store/pauses.js'
import { ALL_TYPES, pauseAudit } from '../shared/pauses.js'
import { writeAudit } from './audit.js'
import type { Connection } from './connection.js'
import { rowsOf } from './rows.js'

const add = `
  insert into hookonce_pauses (source, event_type, actor, note, at) values (?, ?, ?, ?, ?)
  on conflict (source, event_type) do nothing`
const remove = 'delete from hookonce_pauses where source = ? and event_type = ?'
const all = `
  select source, nullif(event_type, '${ALL_TYPES}') as type, actor, note, at from hookonce_pauses
  order by source, event_type`

export function pause(log: Connection, wanted: NewPause): boolean {
  const { source, type, actor, note } = wanted
  return log.write(() => {
    if (log.run(add, source, type ?? ALL_TYPES, actor, note, log.now).changes === 0) return false
    writeAudit(log, pauseAudit('pause', wanted))
    return true
  })
}

export function resume(log: Connection, wanted: NewPause): boolean {
  return log.write(() => {
    if (log.run(remove, wanted.source, wanted.type ?? ALL_TYPES).changes === 0) return false
    writeAudit(log, pauseAudit('resume', wanted))
    return true
  })
}

export function listPauses(log: Connection): Pause[] {
  return rowsOf<Pause>(log.all(all))
}
