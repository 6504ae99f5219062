/**
 * maintain: makes partitions ahead of now and drops those that retention has done with. One process at a time, by an
 * advisory lock on a connection of its own: to detach a partition without blocking anyone is not possible inside a
 * transaction. A process that dies in between leaves its decision in `dropping`, and the next one goes on from there.
 */

import type { ClientBase } from 'pg'
import { HookonceError } from '../../errors.js'
import type { DroppedPartition, MaintainOptions, MaintainReport } from '../../store.js'
import { answerOf } from './connection.js'
import type { Database } from './database.js'
import { asHookonceError } from './failure.js'
import { countAhead, type Doomed, dropPartition, ensurePartitions, type PartitionUnit } from './partitions.js'
import { adhoc, type Run } from './statement.js'

/** Rows of counters folded in one transaction. */
const FOLDED = 2_000

const tryLock = adhoc('select pg_try_advisory_lock(hashtextextended($1, 0)) as got')
/** Only our own: a partition that somebody else has attached is theirs to remove. */
const listPartitions = adhoc(`
select name, low, high from hookonce.payload_partitions()
where low is not null and high is not null and name ~ '^payloads_y[0-9]{4}m[0-9]{2}[a-z0-9_]*$' order by low`)
const readClock = adhoc('select hookonce.clock() as now')
const interrupted = adhoc('select name, low, high from hookonce.dropping order by low')

export async function maintain(
  db: Database,
  unit: PartitionUnit,
  options: MaintainOptions,
): Promise<MaintainReport> {
  if (db.closing.aborted) throw new HookonceError('STORE_CLOSED')
  const client = db.client()
  client.on('error', () => {}) // the statement under way says so too
  try {
    await client.connect()
    const run = runOn(db, client)
    const [lock] = await run<{ got: boolean }>(tryLock, [`hookonce maintain ${db.schema}`])
    const pruneBefore = pruneHorizons(await run<Doomed>(listPartitions, []), options.payloadsBefore)
    const { now } = (await run<{ now: number }>(readClock, []))[0]!
    if (!lock!.got)
      return { dropped: [], created: [], ahead: await aheadOf(run), pruneBefore, busy: true, now }
    // Room first: a partition that cannot be dropped today may wait, one that is missing tomorrow may not.
    const created = options.dryRun ? [] : await ensure(run, unit, options.ahead ?? 3)
    if (!options.dryRun) await fold(run)
    const dropped = await dropAll(run, unit, options)
    return { dropped, created, ahead: await aheadOf(run), pruneBefore, busy: false, now }
  } catch (error) {
    throw asHookonceError(error)
  } finally {
    await client.end().catch(() => {}) // the lock goes with the connection
  }
}

const foldHours = adhoc(`select hookonce.fold_hours(${FOLDED}) as folded`)

/** Gives back the counters of processes that have ended: one row for each source and hour is enough. */
async function fold(run: Run): Promise<void> {
  for (let folded = FOLDED; folded === FOLDED; )
    folded = (await run<{ folded: number }>(foldHours, []))[0]!.folded
}

/** Statements outside any transaction, with time limits: a partition that cannot be had now can be had tomorrow. */
function runOn(db: Database, client: ClientBase): Run {
  let ready = false
  return async (statement, values) => {
    if (!ready) await answerOf(client.query(settings), db.timeoutMs)
    ready = true
    // A little longer than the server's own limit: only a connection that fell silent comes to this.
    return (await answerOf(client.query(db.prepared(statement, values)), STATEMENT_MS + 30_000)).rows
  }
}

const STATEMENT_MS = 300_000
const settings = `set statement_timeout = ${STATEMENT_MS}; set lock_timeout = '10s'; set client_min_messages = warning;
  set synchronous_commit = on`

async function dropAll(run: Run, unit: PartitionUnit, options: MaintainOptions): Promise<DroppedPartition[]> {
  const { payloadsBefore, archivedOnly = [], dryRun } = options
  const dropped: DroppedPartition[] = []
  const allowed = (high: number) =>
    Object.keys(payloadsBefore).filter((source) => payloadsBefore[source]! >= high)
  const drop = async (partition: Doomed) => {
    const limits = { unit, allowed: allowed(partition.high), archivedOnly }
    const payloads = await dropPartition(run, partition, { ...limits, dryRun: dryRun === true })
    if (payloads === null) return
    dropped.push({ name: partition.name, from: partition.low, to: partition.high, payloads })
  }
  if (!dryRun) for (const partition of await run<Doomed>(interrupted, [])) await drop(partition)
  const latest = Math.max(0, ...Object.values(payloadsBefore))
  for (const partition of await run<Doomed>(listPartitions, []))
    if (partition.high <= latest) await drop(partition)
  return dropped
}

/** What lies in a partition that is not past its time goes with it later; what is left before it, one by one. */
function pruneHorizons(
  partitions: readonly Doomed[],
  payloadsBefore: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(payloadsBefore).map(([source, before]) => {
      const around = partitions.find(({ low, high }) => low <= before && before < high)
      return [source, around ? around.low : before]
    }),
  )
}

async function ensure(run: Run, unit: PartitionUnit, ahead: number): Promise<string[]> {
  return (await run<{ name: string }>(ensurePartitions, [null, ahead, unit])).map((row) => row.name)
}

async function aheadOf(run: Run): Promise<number> {
  return (await run<{ ahead: number }>(countAhead, []))[0]!.ahead
}
