/**
 * Makes future partitions and drops those that retention no longer needs. An advisory lock lets one process do it at a
 * time (maintain-session.ts). When it dies, its decision stays in `dropping`, and the next process continues.
 */
import { HookonceError } from '../../errors.js'
import type { DroppedPartition, MaintainOptions, MaintainReport } from '../../store.js'
import type { Database } from './connection/database.js'
import { asHookonceError } from './connection/failure.js'
import { MaintainSession } from './connection/maintain-session.js'
import type { PartitionUnit } from './connection/pools.js'
import { adhoc, type Run } from './connection/statement.js'
import { foldHours } from './hours.js'
import { countAhead, dropPartition, ensurePartitions, type Partition } from './partitions.js'

/** Partitions after the one of now. */
const AHEAD = 3

/** Partitions with other names were attached by users, who remove them. */
const listPartitions = adhoc(`
select name, low, high from hookonce.payload_partitions()
where low is not null and high is not null and name ~ '^payloads_y[0-9]{4}m[0-9]{2}[a-z0-9_]*$' order by low`)
const readClock = adhoc('select hookonce.clock() as now')
const interrupted = adhoc('select name, low, high from hookonce.dropping order by low')

export async function maintain(db: Database, options: MaintainOptions): Promise<MaintainReport> {
  if (db.closing.aborted) throw new HookonceError('STORE_CLOSED')
  const session = new MaintainSession(db)
  const { run } = session
  try {
    await session.open()
    const pruneBefore = pruneHorizons(await run<Partition>(listPartitions, []), options.payloadsBefore)
    const { now } = (await run<{ now: number }>(readClock, []))[0]!
    if (!session.isLocked)
      return { dropped: [], created: [], ahead: await aheadOf(run), pruneBefore, busy: true, now }
    // A late drop does no harm, a missing partition does.
    const created = options.dryRun
      ? []
      : (await run<{ name: string }>(ensurePartitions, [null, AHEAD, db.partitions])).map(({ name }) => name)
    if (!options.dryRun) await foldHours(run)
    const dropped = await dropAll(session, db.partitions, options)
    return { dropped, created, ahead: await aheadOf(run), pruneBefore, busy: false, now }
  } catch (error) {
    throw asHookonceError(error)
  } finally {
    await session.close()
  }
}

async function dropAll(
  session: MaintainSession,
  unit: PartitionUnit,
  options: MaintainOptions,
): Promise<DroppedPartition[]> {
  const { run } = session
  const { payloadsBefore, archivedOnly = [], dryRun } = options
  const dropped: DroppedPartition[] = []
  const allowed = (high: number) =>
    Object.keys(payloadsBefore).filter((source) => payloadsBefore[source]! >= high)
  const drop = async (partition: Partition) => {
    const limits = { unit, allowed: allowed(partition.high), archivedOnly }
    const payloads = await dropPartition(session, partition, { ...limits, dryRun: dryRun === true })
    if (payloads === null) return
    dropped.push({ name: partition.name, from: partition.low, to: partition.high, payloads })
  }
  if (!dryRun) for (const partition of await run<Partition>(interrupted, [])) await drop(partition)
  const latest = Math.max(0, ...Object.values(payloadsBefore))
  for (const partition of await run<Partition>(listPartitions, []))
    if (partition.high <= latest) await drop(partition)
  return dropped
}

/** Only payloads before the partition of the horizon are pruned row by row; later ones go when that partition is dropped. */
function pruneHorizons(
  partitions: readonly Partition[],
  payloadsBefore: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(payloadsBefore).map(([source, before]) => {
      const around = partitions.find(({ low, high }) => low <= before && before < high)
      return [source, around ? around.low : before]
    }),
  )
}

async function aheadOf(run: Run): Promise<number> {
  return (await run<{ ahead: number }>(countAhead, []))[0]!.ahead
}
