/** Wraps the capabilities of a store so that their input is checked first, with the same checks for every store. */
import { invalid } from '../../errors.js'
import { limits } from '../../model.js'
import { historyLevels, levelOf } from '../../store/history.js'
import { importedStates } from '../../store/imports.js'
import {
  checkAuditFilter,
  checkAudits,
  checkCount,
  checkEffect,
  checkInstant,
  checkKey,
  checkKeyStep,
  checkRepeats,
  checkSource,
  checkText,
  checkWatermark,
} from '../../store/input.js'
import type {
  ArchiveDay,
  ArchiveReceipt,
  Capabilities,
  EraseOptions,
  ExportOptions,
  HistoryNote,
  HistoryRange,
  ImportedEvent,
  MaintainOptions,
  PruneOptions,
  StoredDelivery,
} from '../../store.js'

export const DEFAULT_PAGE = 50
const MAX_HANDLED = 10_000
const MAX_PATTERN_BYTES = 4_096

export function checkedCapabilities({
  keys,
  retention,
  archive,
  audit,
  inspect,
  duplicates,
  history,
  imports,
}: Capabilities): Capabilities {
  return {
    keys: {
      async effect(step) {
        checkEffect(step)
        return keys.effect(step)
      },
      async key(step) {
        checkKeyStep(step)
        return keys.key(step)
      },
      async watermark(source, key) {
        checkWatermark({ source, key, value: 0 })
        return keys.watermark(source, key)
      },
      ...(keys.place && { place: keys.place }),
    },
    retention: {
      async prune(options) {
        checkPrune(options)
        return retention.prune(options)
      },
      async maintain(options) {
        checkMaintain(options)
        return retention.maintain(options)
      },
    },
    archive: {
      async export(options) {
        checkExport(options)
        return archive.export(options)
      },
      async archived(receipts) {
        receipts.forEach(checkReceipt)
        if (receipts.length > 0) await archive.archived(receipts)
      },
      async receipts(day) {
        checkDay(day)
        return archive.receipts(day)
      },
      async restore(deliveries) {
        checkRestore(deliveries)
        return deliveries.length === 0 ? [] : archive.restore(deliveries)
      },
      async erase(options) {
        checkErase(options)
        return archive.erase(options)
      },
    },
    audit: {
      async append(entries) {
        checkAudits(entries)
        if (entries.length > 0) await audit.append(entries)
      },
      async list(filter, { limit = DEFAULT_PAGE, cursor = null } = {}) {
        checkAuditFilter(filter)
        checkCount('limit', limit, limits.listPage)
        return audit.list(filter, { limit, cursor })
      },
    },
    inspect: {
      async payload(key) {
        checkKey(key)
        return inspect.payload(key)
      },
      async attempts(key) {
        checkKey(key)
        return inspect.attempts(key)
      },
      async effects(key) {
        checkKey(key)
        return inspect.effects(key)
      },
      async conflict(key) {
        checkKey(key)
        return inspect.conflict(key)
      },
      async deadLetters(options) {
        if (options.source !== undefined) checkSource(options.source)
        checkCount('limit', options.limit, 1_000_000)
        return inspect.deadLetters(options)
      },
      leases: inspect.leases,
      async types(limit) {
        checkCount('limit', limit, 10_000)
        return inspect.types(limit)
      },
      async idsFrom(prefix, limit) {
        checkText('The beginning of an id', prefix, 1, limits.eventIdBytes)
        checkCount('limit', limit, limits.listPage)
        return inspect.idsFrom(prefix, limit)
      },
      report: inspect.report,
    },
    duplicates: {
      count(repeats) {
        checkRepeats(repeats)
        duplicates.count(repeats)
      },
      flush: duplicates.flush,
    },
    history: {
      async add(note) {
        checkHistory(note)
        return history.add(note)
      },
      async read(range) {
        checkRange(range)
        return history.read(range)
      },
      processes: history.processes,
      handled: history.handled,
    },
    imports: {
      async add(events) {
        checkImports(events)
        return events.length === 0 ? [] : imports.add(events)
      },
      async known(keys) {
        keys.forEach(checkKey)
        return keys.length === 0 ? [] : imports.known(keys)
      },
    },
  }
}

function checkHistory({ counts, process }: HistoryNote): void {
  checkText('The id of a process', process.id, 1, 64)
  const { handles = [] } = process
  if (handles.length > MAX_HANDLED)
    throw invalid('A note', `takes at most ${MAX_HANDLED} handled types at once`)
  for (const { source, pattern } of handles) {
    checkSource(source)
    checkText('A handled type', pattern, 1, MAX_PATTERN_BYTES)
  }
  if (counts.length > 20_000) throw invalid('A note', 'takes at most 20,000 counts at once')
  for (const { source, name, value } of counts) {
    checkSource(source)
    checkText('The name of a count', name, 1, 255)
    checkCount('A count', value, Number.MAX_SAFE_INTEGER)
  }
}

function checkRange({ from, to, stepMs }: HistoryRange): void {
  checkInstant('from', from)
  checkInstant('to', to)
  if (!(Number.isSafeInteger(stepMs) && stepMs > 0 && stepMs % historyLevels[0].stepMs === 0))
    throw invalid('stepMs', 'must be a whole number of minutes')
  if (from % levelOf(stepMs) !== 0) throw invalid('from', 'must be the start of a bucket')
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

function checkReceipt({ source, day, object, seqs, sha256 }: ArchiveReceipt): void {
  checkDay({ source, day })
  checkCount('The object number', object, Number.MAX_SAFE_INTEGER)
  checkCount('The number of deliveries in an object', seqs.length, 1_000_000)
  for (const seq of seqs) checkCount('seq', seq, Number.MAX_SAFE_INTEGER)
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw invalid('sha256', 'must be a SHA-256 in hexadecimal')
}

function checkDay({ source, day }: ArchiveDay): void {
  checkSource(source)
  if (!/^\d{4}-\d\d-\d\d$/.test(day) || Number.isNaN(Date.parse(day)))
    throw invalid('day', `must be a date as yyyy-mm-dd, not "${day.slice(0, 20)}"`)
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

function checkImports(events: readonly ImportedEvent[]): void {
  if (events.length > limits.recordBatch)
    throw invalid('An import', `takes at most ${limits.recordBatch} events at once; split it`)
  for (const { source, eventId, eventType, reference, receivedAt, processedAt, ...event } of events) {
    checkKey({ source, eventId })
    checkText('An event type', eventType, 1, limits.eventTypeBytes)
    if (reference !== null) checkText('A reference', reference, 1, limits.referenceBytes)
    checkInstant('receivedAt', receivedAt)
    if (processedAt !== null) checkInstant('processedAt', processedAt)
    const { state, reason, payload } = event
    if (!importedStates.includes(state))
      throw invalid('The state of an imported event', `must be one of ${importedStates.join(', ')}`)
    if (reason !== null) checkText('A reason', reason, 0, limits.reasonBytes, true)
    if (payload === null && state === 'failed')
      throw invalid(`Event "${eventId}"`, 'failed and has no payload: there would be nothing to retry')
    if (payload && payload.body.byteLength > limits.bodyBytes)
      throw invalid('A body', `must not be larger than ${limits.bodyBytes} bytes`)
  }
}

function checkErase({ reference, source, actor, reason, limit }: EraseOptions): void {
  checkText('A reference', reference, 1, limits.referenceBytes)
  if (source !== undefined) checkSource(source)
  checkText('An actor', actor, 1, 255)
  checkText('A reason', reason, 0, limits.reasonBytes, true)
  checkCount('limit', limit, 100_000)
}
