/** The events of the log in memory as readers see them, and the filters of `list`. */
import type { EventFilter, EventRecord, Reference } from 'hookonce'
import { globMatches, isGlob } from '#dist/glob.js'
import { attemptsOf, hex, type ModelEvent, reasonsOf, shownConflict, stateOf } from '../property/model.js'

export function toRecord(event: ModelEvent, now: number, lastDeliveryAt: number): EventRecord {
  const state = stateOf(event, now)
  const { work } = event
  const shown = shownConflict(event)
  return {
    source: event.source,
    id: event.id,
    seq: event.seq,
    type: event.event.type,
    reference: event.event.reference,
    references: referencesOf(event),
    state,
    reason: reasonsOf(event, now).at(-1) ?? null,
    receivedAt: event.receivedAt,
    processedAt: work === null ? event.processedAt : null,
    attempts: attemptsOf(event),
    run: event.run,
    nextAttemptAt: work === null || state === 'processing' ? null : work.nextAt,
    deliveries: event.deliveries,
    conflicts: event.conflicts,
    lastDeliveryAt,
    lastConflict: shown && { at: lastDeliveryAt, hash: shown.hash, decidedAt: shown.isOpen ? null : now },
    contentHash: hex(event.event.contentHash),
    sameAs: event.sameAs,
    origin: 'delivery',
    payload: event.payload.kept ? 'kept' : 'removed',
  }
}

/** That of the event itself is first, the others by label. */
function referencesOf({ event, otherReferences }: ModelEvent): Reference[] {
  const { reference, references = [] } = event
  const own = references.find(({ value }) => value === reference)
  const all = new Map([...references, ...otherReferences].map((one) => [JSON.stringify(one), one]))
  if (own) all.delete(JSON.stringify(own))
  const others = [...all.values()].sort((a, b) => compare(a.label, b.label) || compare(a.value, b.value))
  return own ? [own, ...others] : others
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function matches(event: EventRecord, filter: EventFilter): boolean {
  const { source, id, type, state, dead, reason, reference, label, from, to } = filter
  const isDead = event.state === 'failed' && event.nextAttemptAt === null
  return (
    (source === undefined || event.source === source) &&
    (id === undefined || event.id === id) &&
    (type === undefined || (isGlob(type) ? globMatches(type, event.type) : event.type === type)) &&
    (state === undefined || event.state === state) &&
    (dead === undefined || (event.state === 'failed' && isDead === dead)) &&
    (reason === undefined || event.reason === reason) &&
    (reference === undefined ||
      (event.reference === reference && label === undefined) ||
      event.references.some((one) => one.value === reference && (label ?? one.label) === one.label)) &&
    (from === undefined || event.receivedAt >= from) &&
    (to === undefined || event.receivedAt < to) &&
    (filter.hasDuplicates === undefined || event.deliveries > 1 === filter.hasDuplicates) &&
    (filter.hasConflict === undefined || (event.lastConflict?.decidedAt === null) === filter.hasConflict) &&
    (filter.flagged === undefined || (event.sameAs !== null) === filter.flagged)
  )
}
