/**
 * retain: one run of retention over all sources. It archives expired payloads, drops whole partitions, and removes the
 * other expired rows in small batches. It can be stopped at any time: each batch is one transaction, and the next run
 * continues. The store never removes an unfinished event.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Counters } from '../counters.js'
import type { Logger } from '../log.js'
import { takeKey } from '../once.js'
import {
  type DroppedPartition,
  type MaintainOptions,
  type MaintainReport,
  need,
  type Store,
} from '../store.js'
import type { ArchiveProgress } from './archive/run.js'
import { runOf } from './archive/target.js'
import type { RetentionOptions, RetentionPolicy, SourcePolicy } from './policy.js'

export interface RetainDeps {
  readonly store: Store
  readonly policy: RetentionPolicy
  readonly settings: Pick<RetentionOptions, 'archive' | 'batch'>
  readonly log: Logger
  readonly counters: Counters
}

export interface RetainOptions {
  /** Count expired rows without removing them. */
  readonly dryRun?: boolean
  /** Only these sources. No partition is dropped then, because a partition has payloads of all sources. */
  readonly sources?: readonly string[]
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: RetainProgress) => void
}

export type RetainProgress =
  | ({ readonly step: 'archive' } & ArchiveProgress)
  | { readonly step: 'prune'; readonly source: string; readonly removed: Removed }

/** Rows removed so far in this run. */
export interface Removed {
  readonly payloads: number
  readonly events: number
  readonly attempts: number
  readonly audits: number
}

export interface RetainReport {
  /** True when another process runs retention: nothing was done. */
  readonly busy: boolean
  /** By source. A dry run also counts payloads in partitions that would be dropped. */
  readonly sources: Readonly<Record<string, Removed & { readonly archived: number }>>
  readonly dropped: readonly DroppedPartition[]
  readonly partitionsAhead: number | null
}

/** Fewer partitions ahead of now than this raise an alarm. */
const FEWEST_AHEAD = 2
const DEFAULT_BATCH = 500

export async function retain(deps: RetainDeps, options: RetainOptions = {}): Promise<RetainReport> {
  need(deps.store, 'retention', 'removing expired rows')
  const lease = options.dryRun ? dryLease : await takeLease(deps.store)
  if (lease === null) return { busy: true, sources: {}, dropped: [], partitionsAhead: null }
  try {
    return await run(deps, options, lease)
  } finally {
    await lease.release()
  }
}

const dryLease: RetentionLease = { insist: async () => {}, release: async () => {} }

async function run(deps: RetainDeps, options: RetainOptions, lease: RetentionLease): Promise<RetainReport> {
  const { store, policy, settings } = deps
  const { now } = await need(store, 'retention', 'removing expired rows').maintain({
    payloadsBefore: {},
    dryRun: true,
  })
  const names = [...policy.keys()].filter((name) => options.sources?.includes(name) ?? true)
  const payloadsBefore = Object.fromEntries(
    names.map((name) => [name, before(now, policy.get(name)!.payloads)]),
  )
  const archivedOnly = settings.archive ? names : []
  const plan = await need(store, 'retention', 'removing expired rows').maintain({
    payloadsBefore,
    archivedOnly,
    dryRun: true,
  })
  const archived = new Map<string, number>()
  if (settings.archive && !options.dryRun) {
    for (const name of names) archived.set(name, await archiveSource(deps, options, lease, name, plan))
  }
  // With only some sources no partition is dropped, because the others are missing in `payloadsBefore`.
  const maintained = options.dryRun ? plan : await maintain(deps, { payloadsBefore, archivedOnly }, plan)
  const sources: Record<string, Removed & { archived: number }> = {}
  for (const name of names) {
    const removed = await pruneSource(deps, options, lease, name, {
      now,
      ages: policy.get(name)!,
      payloadsBefore: maintained.pruneBefore[name]!,
    })
    sources[name] = { ...removed, archived: archived.get(name) ?? 0 }
  }
  if (!options.dryRun) await audit(deps, sources, maintained.dropped)
  return { busy: false, sources, dropped: maintained.dropped, partitionsAhead: maintained.ahead }
}

const before = (now: number, age: number): number => Math.max(0, now - age)

async function archiveSource(
  { store, settings }: RetainDeps,
  { signal, onProgress }: RetainOptions,
  lease: RetentionLease,
  source: string,
  plan: MaintainReport,
): Promise<number> {
  const target = settings.archive!
  const archiveRun = await runOf(target)
  const report = await archiveRun({
    store,
    target,
    source,
    before: plan.pruneBefore[source]!,
    signal,
    insist: lease.insist,
    onProgress: onProgress && ((progress) => onProgress({ step: 'archive', ...progress })),
  })
  return report.deliveries
}

interface Horizon {
  readonly now: number
  readonly ages: SourcePolicy
  readonly payloadsBefore: number
}

async function pruneSource(
  deps: RetainDeps,
  { dryRun = false, signal, onProgress }: RetainOptions,
  lease: RetentionLease,
  source: string,
  { now, ages, payloadsBefore }: Horizon,
): Promise<Removed> {
  const { store, settings, counters } = deps
  let removed: Removed = { payloads: 0, events: 0, attempts: 0, audits: 0 }
  for (;;) {
    signal?.throwIfAborted()
    await lease.insist()
    const startedAt = performance.now()
    const result = await need(store, 'retention', 'removing expired rows').prune({
      source,
      payloadsBefore,
      eventsBefore: before(now, ages.events),
      attemptsBefore: before(now, ages.attempts),
      auditsBefore: before(now, ages.audits),
      archivedOnly: settings.archive !== undefined,
      limit: dryRun ? Number.MAX_SAFE_INTEGER - 1 : (settings.batch ?? DEFAULT_BATCH),
      dryRun,
    })
    removed = {
      payloads: removed.payloads + result.payloads,
      events: removed.events + result.events,
      attempts: removed.attempts + result.attempts,
      audits: removed.audits + result.audits,
    }
    if (!dryRun) counters.retention.removed(result)
    onProgress?.({ step: 'prune', source, removed })
    if (!result.more || dryRun) break
    // Pauses as long as the batch took, so that recording is not slowed down.
    await sleep(Math.min(1_000, performance.now() - startedAt), undefined, { ref: true })
  }
  return removed
}

/** Checks the partitions also when `maintain` fails: a role that may not create tables lets them run out. */
async function maintain(
  deps: RetainDeps,
  options: MaintainOptions,
  before: MaintainReport,
): Promise<MaintainReport> {
  let report = before
  try {
    report = await need(deps.store, 'retention', 'removing expired rows').maintain(options)
    return report
  } finally {
    watchAhead(deps, report)
  }
}

function watchAhead({ log, counters }: RetainDeps, { ahead }: MaintainReport): void {
  counters.retention.partitionsAhead = ahead
  if (ahead === null || ahead >= FEWEST_AHEAD) return
  counters.retention.alarms++
  log.error({ step: 'retain', partitionsAhead: ahead }, 'payload partitions are running out')
}

async function audit(
  { store }: RetainDeps,
  sources: RetainReport['sources'],
  dropped: readonly DroppedPartition[],
): Promise<void> {
  const entry = (source: string | null, note: string) => ({
    actor: 'retention',
    verb: 'prune',
    source,
    eventId: null,
    note,
  })
  const entries = Object.entries(sources)
    .filter(([, counts]) => counts.payloads + counts.events + counts.attempts + counts.audits > 0)
    .map(([source, { payloads, events, attempts, audits }]) =>
      entry(source, `removed ${payloads} payloads, ${events} events, ${attempts} attempts, ${audits} audits`),
    )
  const partitions = dropped.map(({ name, payloads }) =>
    entry(null, `dropped partition ${name} with ${payloads} payloads`),
  )
  await store.audit?.append([...entries, ...partitions].slice(0, 1_000))
}

export interface RetentionLease {
  /** Throws when the lease is lost; another process may be running retention then. */
  insist(): Promise<void>
  release(): Promise<void>
}

const KEY = 'hookonce:retention'
const LEASE_MS = 60_000

/** Null: another process runs retention. */
export async function takeLease(store: Store): Promise<RetentionLease | null> {
  const taken = await takeKey(need(store, 'keys', 'removing expired rows'), KEY, LEASE_MS)
  return taken.state === 'leased' ? { insist: taken.lease.extend, release: taken.lease.drop } : null
}
