import type { EventKey } from '../../model.js'
import type { ImportedEvent } from '../../store.js'
import { otherReferencesOf, ownLabelOf } from '../shared/references.js'
import type { Connection } from './connection.js'
import { addReferences } from './references.js'
import { hourBook } from './stats.js'

const insertEvent = `
  insert into hookonce_events (source, event_id, event_type, related_reference, reference_label, received_at, part, processing_state,
    reason, processed_at, parked, origin)
  values (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, 'import')
  on conflict (source, event_id) do nothing`
const insertPayload = 'insert into hookonce_payloads (seq, received_at, headers, body) values (?, ?, ?, ?)'

export function importEvents(log: Connection, events: readonly ImportedEvent[]): boolean[] {
  return log.write(() => {
    const book = hourBook()
    const added = events.map((event) => {
      const { source, id, type, reference, state, reason, payload } = event
      const receivedAt = Math.trunc(event.receivedAt)
      const processedAt = Math.trunc(event.processedAt ?? receivedAt)
      const parked = state === 'succeeded' ? null : state === 'ignored' ? 'ignored' : 'dead'
      const values = [
        source,
        id,
        type,
        reference,
        ownLabelOf(event),
        receivedAt,
        state,
        reason,
        processedAt,
        parked,
      ]
      const inserted = log.run(insertEvent, ...values)
      if (inserted.changes === 0) return false
      const seq = Number(inserted.lastInsertRowid)
      if (payload) log.run(insertPayload, seq, receivedAt, JSON.stringify(payload.headers), payload.body)
      addReferences(log, seq, otherReferencesOf(event))
      book.recorded(source, receivedAt, seq)
      if (parked !== null) book.add(source, receivedAt, { [parked]: 1 })
      return true
    })
    book.write(log)
    return added
  })
}

const findEvent = 'select 1 from hookonce_events where source = ? and event_id = ?'

export function knownEvents(log: Connection, keys: readonly EventKey[]): boolean[] {
  return log.read(() => keys.map(({ source, id }) => log.get(findEvent, source, id) !== undefined))
}
