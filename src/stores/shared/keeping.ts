/** The verbs of keeping and letting go, with their input checked: the same checks in front of every store. */
import { invalid } from '../../errors.js'
import {
  type ArchiveMark,
  type EraseOptions,
  type ExportOptions,
  limits,
  type MaintainOptions,
  type PruneOptions,
  type StoredDelivery,
} from '../../model.js'
import type { Store } from '../../store.js'
import { checkCount, checkInstant, checkKey, checkSource, checkText } from '../../store-input.js'

type Keeping = Pick<Store, 'prune' | 'maintain' | 'export' | 'archived' | 'restore' | 'erase'>

export function checkedKeeping(verbs: Keeping): Keeping {
  return {
    async prune(options) {
      checkPrune(options)
      return verbs.prune(options)
    },
    async maintain(options) {
      checkMaintain(options)
      return verbs.maintain(options)
    },
    async export(options) {
      checkExport(options)
      return verbs.export(options)
    },
    async archived(marks) {
      marks.forEach(checkMark)
      if (marks.length > 0) await verbs.archived(marks)
    },
    async restore(deliveries) {
      checkRestore(deliveries)
      return deliveries.length === 0 ? [] : verbs.restore(deliveries)
    },
    async erase(options) {
      checkErase(options)
      return verbs.erase(options)
    },
  }
}

function checkPrune(options: PruneOptions): void {
  checkSource(options.source)
  checkCount('limit', options.limit, Number.MAX_SAFE_INTEGER)
  for (const name of ['payloadsBefore', 'eventsBefore', 'attemptsBefore', 'auditsBefore'] as const) {
    const at = options[name]
    if (at !== undefined) checkInstant(name, at)
  }
}

function checkMaintain({ payloadsBefore, archivedOnly = [], ahead }: MaintainOptions): void {
  for (const [source, at] of Object.entries(payloadsBefore)) {
    checkSource(source)
    checkInstant('payloadsBefore', at)
  }
  archivedOnly.forEach(checkSource)
  if (ahead !== undefined) checkCount('ahead', ahead, 366)
}

function checkExport({ source, from, to, after, limit }: ExportOptions): void {
  checkSource(source)
  checkInstant('from', from)
  checkInstant('to', to)
  if (!Number.isSafeInteger(after) || after < 0)
    throw invalid('after', `must be a position that a page returned, not ${after}`)
  checkCount('limit', limit, limits.restoreBatch)
}

function checkMark({ source, day, object, seqs }: ArchiveMark): void {
  checkSource(source)
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day)))
    throw invalid('day', `must be a date as yyyy-mm-dd, not "${day.slice(0, 20)}"`)
  checkCount('The object number', object, Number.MAX_SAFE_INTEGER)
  checkCount('The number of deliveries in an object', seqs.length, 1_000_000)
  for (const seq of seqs) checkCount('seq', seq, Number.MAX_SAFE_INTEGER)
}

function checkRestore(deliveries: readonly StoredDelivery[]): void {
  if (deliveries.length > limits.restoreBatch)
    throw invalid('A restore', `takes at most ${limits.restoreBatch} deliveries at once; split it`)
  for (const { source, events, body, receivedAt } of deliveries) {
    if (events.length === 0) throw invalid('A delivery', 'must carry at least one event')
    if (body.byteLength > 2 * limits.bodyBytes)
      throw invalid(
        'A body',
        `must not be larger than ${2 * limits.bodyBytes} bytes, and has ${body.byteLength}`,
      )
    checkInstant('receivedAt', receivedAt)
    for (const { eventId, contentHash } of events) {
      checkKey({ source, eventId })
      if (contentHash !== null && !/^[0-9a-f]{64}$/.test(contentHash))
        throw invalid('contentHash', 'must be a SHA-256 of 64 hexadecimal digits')
    }
  }
}

function checkErase({ reference, source, actor, reason, limit }: EraseOptions): void {
  checkText('A reference', reference, 1, limits.referenceBytes)
  if (source !== undefined) checkSource(source)
  checkText('An actor', actor, 1, 255)
  checkText('A reason', reason, 0, limits.reasonBytes, true)
  checkCount('limit', limit, 100_000)
}
