/**
 * prune: removes a limited number of payloads of finished events, finished events past their horizon, their attempts, and
 * audits. Pending, processing and failed events are never removed, whatever their age.
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import type { Database } from './connection/database.js'
import { numbers, type Run, type Statement } from './connection/statement.js'
import { seqRange } from './hours.js'
import {
  dropAttempts,
  dropAudits,
  dropConflicts,
  dropEvents,
  dropHours,
  dropKeys,
  dropPayloads,
  dropReceipts,
  findArchivedEvents,
  findArchivedPayloads,
  findAttempts,
  findAudits,
  findEvents,
  findPayloads,
  lockEvents,
  lockSharing,
  notePruned,
} from './prune-sql.js'

interface Removed {
  readonly count: number
  readonly more: boolean
}

const nothing: Removed = { count: 0, more: false }

export function prune(db: Database, options: PruneOptions): Promise<PruneResult> {
  const sweep = async (run: Run) => {
    const payloads = await prunePayloads(db, run, options)
    const events = await pruneEvents(db, run, options)
    const attempts = await pruneAttempts(db, run, options)
    const audits = await pruneAudits(run, options)
    const conflicts = await pruneConflicts(run, options)
    if (!options.dryRun) await run(dropKeys, [Math.min(options.limit, REMOVALS)])
    return {
      payloads: payloads.count,
      events: events.count,
      attempts: attempts.count,
      audits: audits.count,
      more: [payloads, events, attempts, audits, conflicts].some(({ more }) => more),
    }
  }
  return options.dryRun ? sweep(db.read) : db.atomic(sweep)
}

async function prunePayloads(db: Database, run: Run, options: PruneOptions): Promise<Removed> {
  const { payloadsBefore, archivedOnly } = options
  if (payloadsBefore === undefined) return nothing
  return sweepLog(db, run, {
    ...pass(options, archivedOnly ? findArchivedPayloads : findPayloads, payloadsBefore),
    async remove(rows) {
      const seqs = numbers(rows.map((row) => row.seq))
      await run(lockSharing, [seqs])
      return counted(await run(dropPayloads, [seqs]))
    },
  })
}

async function pruneEvents(db: Database, run: Run, options: PruneOptions): Promise<Removed> {
  const { source, eventsBefore, archivedOnly, dryRun } = options
  if (eventsBefore === undefined) return nothing
  let highest = 0
  const events = await sweepLog(db, run, {
    ...pass(options, archivedOnly ? findArchivedEvents : findEvents, eventsBefore),
    async remove(rows) {
      const seqs = numbers(rows.map((row) => row.seq))
      await run(lockEvents, [seqs])
      const gone = await run<{ count: number; highest: number }>(dropEvents, [seqs])
      highest = Math.max(highest, gone[0]!.highest)
      return counted(gone)
    },
  })
  if (dryRun) return events
  if (highest > 0) {
    await run(notePruned, [source, highest])
    await run(dropHours, [source, eventsBefore])
  }
  if (!events.more) await run(dropReceipts, [source, eventsBefore])
  return events
}

/** Deliveries with other content are as old as payloads may be. */
async function pruneConflicts(run: Run, options: PruneOptions): Promise<{ more: boolean }> {
  const { source, payloadsBefore, limit, dryRun } = options
  if (payloadsBefore === undefined || dryRun) return nothing
  const most = Math.min(limit, REMOVALS)
  return { more: counted(await run(dropConflicts, [source, payloadsBefore, most])) >= most }
}

async function pruneAttempts(db: Database, run: Run, options: PruneOptions): Promise<Removed> {
  const { attemptsBefore } = options
  if (attemptsBefore === undefined) return nothing
  return sweepLog<{ seq: number; attempt: number }>(db, run, {
    ...pass(options, findAttempts, attemptsBefore),
    async remove(rows) {
      const seqs = numbers(rows.map((row) => row.seq))
      await run(lockEvents, [seqs])
      return counted(await run(dropAttempts, [seqs, numbers(rows.map((row) => row.attempt))]))
    },
  })
}

async function pruneAudits(
  run: Run,
  { source, auditsBefore, limit, dryRun }: PruneOptions,
): Promise<Removed> {
  if (auditsBefore === undefined) return nothing
  const most = dryRun ? limit : Math.min(limit, REMOVALS)
  const rows = await run<{ id: number }>(findAudits, [source, auditsBefore, most + 1])
  const old = rows.slice(0, most).map((row) => row.id)
  if (old.length > 0 && !dryRun) await run(dropAudits, [numbers(old)])
  return { count: old.length, more: rows.length > most }
}

function pass({ source, limit, dryRun = false }: PruneOptions, find: Statement, before: number) {
  return { find, source, before, limit, dryRun }
}

function counted(rows: readonly { count?: number }[]): number {
  return rows[0]?.count ?? 0
}

/** Seqs that one statement reads, and the most such statements in one call. */
const WINDOW = 20_000
const WINDOWS = 5
/** Removals of each kind in one transaction, whatever the caller's limit. */
const REMOVALS = 10_000

interface Sweep<Row> {
  /** $1 source   $2 before, ms   $3 from seq   $4 to seq   $5 limit */
  readonly find: Statement
  readonly source: string
  readonly before: number
  readonly limit: number
  readonly dryRun: boolean
  /** Returns the number of rows removed. Events that were retried since they were found stay. */
  readonly remove: (rows: readonly Row[]) => Promise<number>
}

/** Finds and removes rows in windows of seqs, and stores where the next call continues. */
async function sweepLog<Row extends { seq: number }>(
  db: Database,
  run: Run,
  sweep: Sweep<Row>,
): Promise<{ count: number; more: boolean }> {
  const { find, source, before, dryRun, remove } = sweep
  const limit = dryRun ? sweep.limit : Math.min(sweep.limit, REMOVALS)
  const range = await seqRange(run, 0, before, source)
  if (range === null) return { count: 0, more: false }
  const places = placesOf(db)
  const place = `${find.name} ${source}`
  const start = dryRun ? range.first : Math.max(range.first, places.get(place) ?? 0)
  let found = 0
  let count = 0
  let windows = 0
  for (let from = start; from <= range.last; from += WINDOW) {
    const rows = [...(await run<Row>(find, [source, before, from, from + WINDOW, limit - found + 1]))]
    const full = rows.length > limit - found
    if (full) rows.pop()
    found += rows.length
    count += dryRun || rows.length === 0 ? rows.length : await remove(rows)
    if (full || (!dryRun && ++windows === WINDOWS && from + WINDOW <= range.last)) {
      // The next call continues here instead of reading again the windows that have nothing left to remove.
      if (!dryRun) places.set(place, full ? from : from + WINDOW)
      return { count, more: true }
    }
  }
  if (!dryRun) places.delete(place)
  return { count, more: false }
}

/** Where the next call continues, for each statement and source. Kept in memory until the pass is complete. */
const passes = new WeakMap<Database, Map<string, number>>()

function placesOf(db: Database): Map<string, number> {
  let places = passes.get(db)
  if (places === undefined) {
    places = new Map()
    passes.set(db, places)
  }
  return places
}
