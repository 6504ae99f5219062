/**
 * One run of retention archives expired payloads, drops whole partitions, and removes the other expired rows in small
 * batches. It can be stopped at any time: each batch is one transaction, and the next run continues.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Counters } from '../counters.js'
import type { Logger } from '../log.js'
import { followedSource } from '../model.js'
import { type KeyLease, takeKey } from '../once.js'
import {
  type DroppedPartition,
  type MaintainOptions,
  type MaintainReport,
  need,
  type PruneOptions,
  type PruneResult,
  type Retention,
  type Store,
} from '../store.js'
import type { ArchiveProgress } from './archive/run.js'
import { type ArchiveTarget, runOf } from './archive/target.js'
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

export type Removed = Omit<PruneResult, 'more'>

export interface RetainReport {
  /** True when another process runs retention: nothing was done. */
  readonly busy: boolean
  /** By source. A dry run also counts payloads in partitions that would be dropped. */
  readonly sources: Readonly<Record<string, Removed & { readonly archived: number }>>
  readonly dropped: readonly DroppedPartition[]
  readonly partitionsAhead: number | null
}

const FEWEST_AHEAD = 2
const DEFAULT_BATCH = 500
const KEY = 'hookonce:retention'
const LEASE_MS = 60_000

export async function retain(deps: RetainDeps, options: RetainOptions = {}): Promise<RetainReport> {
  const retention = need(deps.store, 'retention', 'removing expired rows')
  if (options.dryRun) return new Run(deps, options, retention, null).report()
  const lease = await takeLease(deps.store)
  if (lease === null) return { busy: true, sources: {}, dropped: [], partitionsAhead: null }
  try {
    return await new Run(deps, options, retention, lease).report()
  } finally {
    await lease.drop()
  }
}

export async function takeLease(store: Store): Promise<KeyLease | null> {
  const taken = await takeKey(need(store, 'keys', 'removing expired rows'), KEY, LEASE_MS)
  return taken.state === 'leased' ? taken.lease : null
}

class Run {
  readonly #deps: RetainDeps
  readonly #options: RetainOptions
  readonly #retention: Retention
  readonly #lease: KeyLease | null

  constructor(deps: RetainDeps, options: RetainOptions, retention: Retention, lease: KeyLease | null) {
    this.#deps = deps
    this.#options = options
    this.#retention = retention
    this.#lease = lease
  }

  async report(): Promise<RetainReport> {
    const { policy, settings } = this.#deps
    const { dryRun = false, sources: wanted } = this.#options
    const { now } = await this.#retention.maintain({ payloadsBefore: {}, dryRun: true })
    const names = [...policy.keys()].filter((name) => wanted?.includes(name) ?? true)
    const consumers = await this.#consumersOf(names)
    const agesOf = (name: string) => policy.get(followedSource(name))!
    // A source that is missing here keeps its payloads, and with them every partition.
    const request = {
      payloadsBefore: Object.fromEntries(
        [...names, ...consumers].map((name) => [name, before(now, agesOf(name).payloads)]),
      ),
      archivedOnly: settings.archive ? names : [],
    }
    const plan = await this.#retention.maintain({ ...request, dryRun: true })
    const archived: Record<string, number> = {}
    if (settings.archive && !dryRun)
      for (const name of names)
        archived[name] = await this.#archive(settings.archive, name, plan.pruneBefore[name]!)
    const maintained = dryRun ? plan : await this.#maintain(request, plan)
    const sources: Record<string, Removed & { archived: number }> = {}
    for (const name of names) {
      const archivedOnly = settings.archive !== undefined
      const payloads = { payloadsBefore: maintained.pruneBefore[name]!, archivedOnly }
      const removed = await this.#prune(name, agesOf(name), now, payloads)
      sources[name] = { ...removed, archived: archived[name] ?? 0 }
    }
    for (const name of consumers)
      sources[name] = { ...(await this.#prune(name, agesOf(name), now)), archived: 0 }
    if (!dryRun) await audit(this.#deps.store, sources, maintained.dropped)
    return { busy: false, sources, dropped: maintained.dropped, partitionsAhead: maintained.ahead }
  }

  /** Also those that no process has any more. They share the payloads and the ages of their source. */
  async #consumersOf(names: readonly string[]): Promise<string[]> {
    const known = (await this.#deps.store.consumers?.list()) ?? []
    return known.flatMap(({ source }) =>
      followedSource(source) !== source && names.includes(followedSource(source)) ? [source] : [],
    )
  }

  async #archive(target: ArchiveTarget, source: string, receivedBefore: number): Promise<number> {
    const { signal, onProgress } = this.#options
    const archiveRun = await runOf(target)
    const { deliveries } = await archiveRun({
      store: this.#deps.store,
      target,
      source,
      before: receivedBefore,
      signal,
      insist: this.#lease?.extend,
      onProgress: onProgress && ((progress) => onProgress({ step: 'archive', ...progress })),
    })
    return deliveries
  }

  /** Checks the partitions even when `maintain` fails: a role that may not create tables lets them run out. */
  async #maintain(request: MaintainOptions, plan: MaintainReport): Promise<MaintainReport> {
    let report = plan
    try {
      report = await this.#retention.maintain(request)
      return report
    } finally {
      watchAhead(this.#deps, report)
    }
  }

  async #prune(
    source: string,
    ages: SourcePolicy,
    now: number,
    payloads: Pick<PruneOptions, 'payloadsBefore' | 'archivedOnly'> = {},
  ): Promise<Removed> {
    const { settings, counters } = this.#deps
    const { dryRun = false, signal, onProgress } = this.#options
    const request: PruneOptions = {
      source,
      ...payloads,
      eventsBefore: before(now, ages.events),
      attemptsBefore: before(now, ages.attempts),
      auditsBefore: before(now, ages.audits),
      limit: dryRun ? Number.MAX_SAFE_INTEGER - 1 : (settings.batch ?? DEFAULT_BATCH),
      dryRun,
    }
    let removed: Removed = { payloads: 0, events: 0, attempts: 0, audits: 0 }
    for (;;) {
      signal?.throwIfAborted()
      await this.#lease?.extend()
      const startedAt = performance.now()
      const result = await this.#retention.prune(request)
      removed = {
        payloads: removed.payloads + result.payloads,
        events: removed.events + result.events,
        attempts: removed.attempts + result.attempts,
        audits: removed.audits + result.audits,
      }
      if (!dryRun) counters.retention.removed(result)
      onProgress?.({ step: 'prune', source, removed })
      if (!result.more || dryRun) return removed
      // Half of the time is left to recording.
      await sleep(Math.min(1_000, performance.now() - startedAt))
    }
  }
}

const before = (now: number, age: number): number => Math.max(0, now - age)

function watchAhead({ log, counters }: RetainDeps, { ahead }: MaintainReport): void {
  counters.retention.partitionsAhead = ahead
  if (ahead === null || ahead >= FEWEST_AHEAD) return
  counters.retention.alarms++
  log.error({ step: 'retain', partitionsAhead: ahead }, 'payload partitions are running out')
}

async function audit(
  store: Store,
  sources: RetainReport['sources'],
  dropped: readonly DroppedPartition[],
): Promise<void> {
  const by = { actor: 'retention', verb: 'prune', eventId: null }
  const entries = Object.entries(sources)
    .filter(([, counts]) => counts.payloads + counts.events + counts.attempts + counts.audits > 0)
    .map(([source, { payloads, events, attempts, audits }]) => ({
      ...by,
      source,
      note: `removed ${payloads} payloads, ${events} events, ${attempts} attempts, ${audits} audits`,
    }))
  const partitions = dropped.map(({ name, payloads }) => ({
    ...by,
    source: null,
    note: `dropped partition ${name} with ${payloads} payloads`,
  }))
  await store.audit?.append([...entries, ...partitions].slice(0, 1_000))
}
