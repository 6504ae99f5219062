/** The events of the log in memory as readers see them, and the filters of `list`. */
import type { EventFilter, EventRecord } from 'hookonce'
import { globMatches, isGlob } from '#dist/glob.js'
import { attemptsOf, hex, type ModelEvent, reasonsOf, stateOf } from '../property/model.js'

export interface LastDelivery {
  readonly at: number
  readonly conflict: EventRecord['lastConflict']
}

export function toRecord(event: ModelEvent, now: number, last: LastDelivery): EventRecord {
  const state = stateOf(event, now)
  const { work } = event
  return {
    source: event.source,
    id: event.id,
    seq: event.seq,
    type: event.event.type,
    reference: event.event.reference,
    state,
    reason: reasonsOf(event, now).at(-1) ?? null,
    receivedAt: event.receivedAt,
    processedAt: work === null ? event.processedAt : null,
    attempts: attemptsOf(event),
    run: event.run,
    nextAttemptAt: work === null || state === 'processing' ? null : work.nextAt,
    deliveries: event.deliveries,
    conflicts: event.conflicts,
    lastDeliveryAt: last.at,
    lastConflict: last.conflict && { ...last.conflict, decidedAt: event.isInConflict ? null : now },
    contentHash: hex(event.event.contentHash),
    sameAs: event.sameAs,
    payload: event.payload.kept ? 'kept' : 'removed',
  }
}

export function matches(event: EventRecord, filter: EventFilter): boolean {
  const { source, id, type, state, dead, reason, reference, from, to } = filter
  const isDead = event.state === 'failed' && event.nextAttemptAt === null
  return (
    (source === undefined || event.source === source) &&
    (id === undefined || event.id === id) &&
    (type === undefined || (isGlob(type) ? globMatches(type, event.type) : event.type === type)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && isDead === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reference === undefined || event.reference === reference) &&
    (from === undefined || event.receivedAt >= from) &&
    (to === undefined || event.receivedAt < to) &&
    (filter.hasDuplicates === undefined || event.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || (event.lastConflict?.decidedAt === null) === filter.hasConflict) &&
    (filter.flagged === undefined || (event.sameAs !== null) === filter.flagged)
  )
}
