/** Checks the input of both stores, which trust what they get: malformed input is INVALID_INPUT before anything is written. */
import { invalid } from '../../errors.js'
import { followedSource, limits, type Settlement } from '../../model.js'
import { historyLevels, levelOf } from '../../store/history.js'
import { importedStates } from '../../store/imports.js'
import {
  checkAction,
  checkAuditFilter,
  checkAudits,
  checkClaim,
  checkContentHash,
  checkCount,
  checkDelayMs,
  checkEffect,
  checkFilter,
  checkGrants,
  checkInstant,
  checkKey,
  checkKeyStep,
  checkLeaseMs,
  checkRecordClaim,
  checkReferences,
  checkRepeats,
  checkReply,
  checkSettlement,
  checkSource,
  checkSubject,
  checkTail,
  checkText,
  checkUuid,
  checkWatermark,
  refusal,
} from '../../store/input.js'
import { pauseKey } from '../../store/pauses.js'
import { MAX_REPORT_BYTES } from '../../store/reconciles.js'
import type {
  ArchiveDay,
  ArchiveReceipt,
  CompleteStore,
  ConsumerCopy,
  EraseOptions,
  ExportOptions,
  HistoryNote,
  HistoryRange,
  ImportedEvent,
  Log,
  MaintainOptions,
  NewConsumer,
  NewPause,
  NewReconcileRun,
  PruneOptions,
  RowName,
  StoredDelivery,
  StoreTransaction,
} from '../../store.js'
import { DEFAULT_PAGE } from './list.js'

const MAX_HANDLED = 10_000
const MAX_PATTERN_BYTES = 4_096

export function checked<Tx>(store: CompleteStore<Tx>): CompleteStore<Tx> {
  const { keys, retention, archive, audit, inspect, duplicates, history, imports } = store
  const { consumers, reconciles, replies, grants, pauses } = store
  return {
    ...guarded<Log<Tx>>(store, {
      claim: checkClaim,
      extend(leases, leaseMs) {
        checkLeaseMs(leaseMs)
        return emptyFor(leases)
      },
      settle(settlements) {
        settlements.forEach(checkSettlement)
        return emptyFor(settlements)
      },
      release(leases, delayMs = 0) {
        checkDelayMs('delayMs', delayMs)
        return emptyFor(leases)
      },
      operate(action) {
        checkAction(action)
        return emptyFor(action.events)
      },
      get: checkKey,
      list(filter, { limit = DEFAULT_PAGE } = {}) {
        checkFilter(filter)
        checkCount('limit', limit, limits.listPage)
      },
      tail: checkTail,
    }),
    async record(deliveries, claim) {
      if (claim) checkRecordClaim(claim)
      if (deliveries.length === 0) return []
      checkCount('The number of deliveries in a batch', deliveries.length, limits.recordBatch)
      const refusals = deliveries.map(refusal)
      if (refusals.every((refused) => refused === null)) return store.record(deliveries, claim)
      const accepted = deliveries.filter((_, i) => refusals[i] === null)
      const verdicts = (accepted.length === 0 ? [] : await store.record(accepted, claim)).values()
      return refusals.map((refused) => refused ?? verdicts.next().value!)
    },
    transaction: async (options) => checkedTransaction(await store.transaction(options)),
    keys: guarded(keys, {
      effect: checkEffect,
      key: checkKeyStep,
      watermark: (source, key) => checkWatermark({ source, key, value: 0 }),
    }),
    retention: guarded(retention, { prune: checkPrune, maintain: checkMaintain }),
    archive: guarded(archive, {
      export: checkExport,
      archived(receipts) {
        receipts.forEach(checkReceipt)
      },
      receipts: checkDay,
      restore(deliveries) {
        checkRestore(deliveries)
        return emptyFor(deliveries)
      },
      erase: checkErase,
    }),
    audit: guarded(audit, {
      append: checkAudits,
      list(filter, { limit = DEFAULT_PAGE } = {}) {
        checkAuditFilter(filter)
        checkCount('limit', limit, limits.listPage)
      },
    }),
    inspect: guarded(inspect, {
      ...(inspect.writerOf && { writerOf: checkRow }),
      payload: checkKey,
      attempts: checkKey,
      effects: checkKey,
      conflict(key, hash) {
        checkKey(key)
        if (hash !== undefined) checkContentHash('hash', hash)
      },
      openConflicts: (limit) => checkCount('limit', limit, 10_000),
      deadLetters({ source, limit }) {
        if (source !== undefined) checkSource(source)
        checkCount('limit', limit, 1_000_000)
      },
      types: (limit) => checkCount('limit', limit, 10_000),
      standings(seqs) {
        if (seqs.length > limits.listPage)
          throw invalid('Standings', `are read of at most ${limits.listPage} events at once`)
        return emptyFor(seqs)
      },
      oldest: (limit) => checkCount('limit', limit, limits.listPage),
      idsFrom(prefix, limit) {
        checkText('The beginning of an id', prefix, 1, limits.eventIdBytes)
        checkCount('limit', limit, limits.listPage)
      },
    }),
    duplicates: {
      ...duplicates,
      count(repeats) {
        checkRepeats(repeats)
        duplicates.count(repeats)
      },
    },
    history: guarded(history, { add: checkHistory, read: checkRange }),
    imports: guarded(imports, {
      add(events) {
        checkImports(events)
        return emptyFor(events)
      },
      known(known) {
        known.forEach(checkKey)
        return emptyFor(known)
      },
    }),
    consumers: guarded(consumers, {
      open(opened) {
        opened.forEach(checkConsumer)
      },
      copy: checkCopy,
    }),
    reconciles: guarded(reconciles, {
      note: checkReconcile,
      runs({ source, limit }) {
        if (source !== undefined) checkSource(source)
        checkCount('limit', limit, limits.listPage)
      },
    }),
    replies: guarded(replies, { get: checkKey }),
    grants: guarded(grants, {
      take: checkGrants,
      list({ source, limit }) {
        if (source !== undefined) checkSource(source)
        checkCount('limit', limit, 10_000)
      },
    }),
    pauses: {
      ...pauses,
      pause: async (pause) => pauses.pause(checkedPause(pause)),
      resume: async (pause) => pauses.resume(checkedPause(pause)),
    },
  }
}

function checkedTransaction<Tx>(transaction: StoreTransaction<Tx>): StoreTransaction<Tx> {
  return {
    tx: transaction.tx,
    get beginFailure() {
      return transaction.beginFailure ?? null
    },
    async settle(settlements) {
      settlements.forEach(checkSettlement)
      return transaction.settle(settlements)
    },
    finish: (settlements, onSent) => problemOf(settlements) ?? transaction.finish(settlements, onSent),
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
    get keys() {
      return guarded(transaction.keys!, { advance: checkWatermark, effect: checkEffect })
    },
    get replies() {
      return guarded(transaction.replies!, { put: (_claimed, reply) => checkReply(reply) })
    },
  }
}

/** An async function would add a turn to the end of each transaction. */
function problemOf(settlements: readonly Settlement[]): Promise<never> | null {
  try {
    settlements.forEach(checkSettlement)
    return null
  } catch (error) {
    return Promise.reject(error)
  }
}

type Check<Call> = Call extends (...args: infer Args) => unknown ? (...args: Args) => unknown : never
type Method = (...args: unknown[]) => unknown

/** A check throws; one that returns a value has answered the call. */
function guarded<T extends object>(target: T, checks: { readonly [M in keyof T]?: Check<T[M]> }): T {
  const methods: Record<string, Method> = {}
  for (const [name, check] of Object.entries(checks) as [string, Method][]) {
    const call = target[name as keyof T] as Method
    methods[name] = async (...args) => check(...args) ?? call(...args)
  }
  return { ...target, ...methods }
}

function emptyFor(list: readonly unknown[]): [] | undefined {
  return list.length === 0 ? [] : undefined
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

function checkMaintain({ payloadsBefore, archivedOnly = [] }: MaintainOptions): void {
  for (const [source, at] of Object.entries(payloadsBefore)) {
    checkSource(source)
    checkInstant('payloadsBefore', at)
  }
  archivedOnly.forEach(checkSource)
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
    for (const { id, contentHash } of events) {
      checkKey({ source, id: id })
      if (contentHash !== null) checkContentHash('contentHash', contentHash)
    }
  }
}

function checkImports(events: readonly ImportedEvent[]): void {
  if (events.length > limits.recordBatch)
    throw invalid('An import', `takes at most ${limits.recordBatch} events at once; split it`)
  for (const event of events) checkImport(event)
}

/** A dry run calls it as well: it writes nothing that the store could refuse. */
export function checkImport(event: ImportedEvent): void {
  const { type, reference, receivedAt, processedAt, state, reason, payload } = event
  checkKey(event)
  checkText('An event type', type, 1, limits.eventTypeBytes)
  if (reference !== null) checkText('A reference', reference, 1, limits.referenceBytes)
  checkReferences(event.references)
  checkInstant('receivedAt', receivedAt)
  if (processedAt !== null) checkInstant('processedAt', processedAt)
  if (!importedStates.includes(state))
    throw invalid('The state of an imported event', `must be one of ${importedStates.join(', ')}`)
  if (reason !== null) checkText('A reason', reason, 0, limits.reasonBytes, true)
  if (payload === null && state === 'failed')
    throw invalid(`Event "${event.id}"`, 'failed and has no payload: there would be nothing to retry')
  if (payload && payload.body.byteLength > limits.bodyBytes)
    throw invalid('A body', `must not be larger than ${limits.bodyBytes} bytes`)
}

function checkConsumer({ source, from }: NewConsumer): void {
  checkSource(source)
  if (from !== 'now') checkInstant('from', from)
}

function checkCopy({ source, from, to, events }: ConsumerCopy): void {
  checkSource(source)
  if (followedSource(source) === source)
    throw invalid('A copy', `needs a consumer, not the source "${source}"`)
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 0 && to > from))
    throw invalid('A copy', `must move the position forward, not from ${from} to ${to}`)
  if (events.length > limits.listPage)
    throw invalid('A copy', `takes at most ${limits.listPage} events at once`)
  for (const { seq, lane } of events) {
    checkCount('seq', seq, Number.MAX_SAFE_INTEGER)
    if (lane !== null) checkText('A lane', lane, 1, limits.referenceBytes)
  }
}

function checkedPause(pause: NewPause): NewPause {
  const { source, type, actor, note } = pause
  checkSource(source)
  if (type !== null) checkText('A type', type, 1, limits.eventTypeBytes)
  checkText('An actor', actor, 1, 255)
  checkText('A note', note, 0, limits.reasonBytes, true)
  return { ...pauseKey(pause), actor, note }
}

function checkRow({ table, key }: RowName): void {
  checkText('The name of a table', table, 1, 255)
  checkText('The key of a row', key, 1, 1_000)
}

function checkReconcile({ id, source, report }: NewReconcileRun): void {
  checkUuid('The id of a run', id)
  checkSource(source)
  checkText('A report', report, 2, MAX_REPORT_BYTES, true)
}

function checkErase({ reference, label, source, actor, note, limit }: EraseOptions): void {
  checkText('A reference', reference, 1, limits.referenceBytes)
  checkSubject(label === undefined ? { reference } : { reference, label })
  if (source !== undefined) checkSource(source)
  checkText('An actor', actor, 1, 255)
  checkText('A note', note, 0, limits.reasonBytes, true)
  checkCount('limit', limit, 100_000)
}
