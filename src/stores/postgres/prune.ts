/**
 * prune: a bounded number of finished events' payloads, of finished events past their horizon, of their attempts, and of
 * audits. What is pending, processing or failed is never touched, whatever its age (I7).
 */
import type { PruneOptions, PruneResult } from '../../store.js'
import type { Database, Run, Statement } from './database.js'
import { numbers } from './parameters.js'
import {
  dropAttempts,
  dropAudits,
  dropEvents,
  dropHours,
  dropKeys,
  dropMarks,
  dropPayloads,
  dropTombstones,
  findArchivedEvents,
  findArchivedPayloads,
  findAttempts,
  findAudits,
  findEvents,
  findPayloads,
  lockEvents,
  lockSharing,
} from './prune-sql.js'
import { notePruned } from './pruned.js'
import { REMOVALS, sweepLog } from './sweep.js'

interface Part {
  readonly count: number
  readonly more: boolean
}

const nothing: Part = { count: 0, more: false }

export function prune(db: Database, options: PruneOptions): Promise<PruneResult> {
  const sweep = async (run: Run) => {
    const payloads = await prunePayloads(db, run, options)
    const events = await pruneEvents(db, run, options)
    const attempts = await pruneAttempts(db, run, options)
    const audits = await pruneAudits(run, options)
    const graves = await pruneTombstones(run, options)
    if (!options.dryRun) await run(dropKeys, [Math.min(options.limit, REMOVALS)])
    return {
      payloads: payloads.count,
      events: events.count,
      attempts: attempts.count,
      audits: audits.count,
      more: [payloads, events, attempts, audits, graves].some(({ more }) => more),
    }
  }
  return options.dryRun ? sweep(db.read) : db.atomic(sweep)
}

async function prunePayloads(db: Database, run: Run, options: PruneOptions): Promise<Part> {
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

async function pruneEvents(db: Database, run: Run, options: PruneOptions): Promise<Part> {
  const { source, eventsBefore, archivedOnly, dryRun, tombstones = false } = options
  if (eventsBefore === undefined) return nothing
  let highest = 0
  const events = await sweepLog(db, run, {
    ...pass(options, archivedOnly ? findArchivedEvents : findEvents, eventsBefore),
    async remove(rows) {
      const seqs = numbers(rows.map((row) => row.seq))
      await run(lockEvents, [seqs])
      const gone = await run<{ count: number; highest: number }>(dropEvents, [seqs, tombstones])
      highest = Math.max(highest, gone[0]!.highest)
      return counted(gone)
    },
  })
  if (dryRun) return events
  if (highest > 0) {
    await notePruned(run, source, highest)
    await run(dropHours, [source, eventsBefore])
  }
  if (!events.more) await run(dropMarks, [source, eventsBefore])
  return events
}

async function pruneTombstones(run: Run, options: PruneOptions): Promise<{ more: boolean }> {
  const { source, tombstonesBefore, limit, dryRun } = options
  if (tombstonesBefore === undefined || dryRun) return nothing
  const most = Math.min(limit, REMOVALS)
  return { more: counted(await run(dropTombstones, [source, tombstonesBefore, most])) >= most }
}

async function pruneAttempts(db: Database, run: Run, options: PruneOptions): Promise<Part> {
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

async function pruneAudits(run: Run, { source, auditsBefore, limit, dryRun }: PruneOptions): Promise<Part> {
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
