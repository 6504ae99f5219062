/** `inbox.reconcile`, the routes of the admin API and the command call this; `schedule.ts` runs it by itself. */
import { randomUUID } from 'node:crypto'
import { HookonceError } from '../errors.js'
import type { Logger } from '../log.js'
import { unknownSource } from '../nearest.js'
import { type KeyLease, takeKey } from '../once.js'
import type { IdentifiedEvent, ListRange, Source } from '../provider.js'
import type { RetentionPolicy } from '../retention/policy.js'
import { type HandledTypes, need, type Store } from '../store.js'
import { checkReconcileOptions, type ReconcileOptions } from './options.js'
import type { ReconcileReport } from './report.js'
import { type Progress, RENEW_MS, runReconcile } from './run.js'
import { windowOf } from './window.js'

export interface ReconcileDeps {
  readonly sources: ReadonlyMap<string, Source>
  readonly policy: RetentionPolicy
  readonly log: Logger
  store(): Promise<Store>
  laneOf(source: string, event: IdentifiedEvent): string | null
  /** The types of a source that handlers take, in any process, consumers included. */
  handled(store: Store, source: string): Promise<readonly HandledTypes[]>
  /** Wakes the handlers, and counts new events. */
  recorded(source: string, count: number): void
}

/** Without a heartbeat for this long, another process takes over. */
const LEASE_MS = 30_000
const SILENT_MS = 3 * RENEW_MS

export async function reconcile(
  deps: ReconcileDeps,
  name: string,
  options: ReconcileOptions = {},
): Promise<ReconcileReport> {
  checkReconcileOptions(options)
  const source = reconcilable(deps, name)
  const store = await deps.store()
  const { dryRun = false, signal = new AbortController().signal, onProgress } = options
  const now = await store.ping()
  const range = windowOf(options, { now, eventsMs: deps.policy.get(name)!.events, list: source.list! })
  if (range === null) {
    const problem =
      'everything in this window is younger than five minutes, or older than the sender or the log remembers'
    throw new HookonceError('RECONCILE_UNAVAILABLE', {
      source: name,
      problem: `${problem}. Give an earlier \`since\``,
    })
  }
  const lease = dryRun ? null : await takeSource(store, name)
  if (!dryRun && lease === null) throw new HookonceError('RECONCILE_BUSY', { source: name })
  const id = randomUUID()
  return runOnce(deps, store, name, lease, {
    id,
    by: 'request',
    range,
    dryRun,
    startedAt: now,
    notBefore: null,
    signal,
    onProgress,
  })
}

/** Throws when the source cannot be compared, and says what is missing. */
export function reconcilable({ sources }: Pick<ReconcileDeps, 'sources'>, name: string): Source {
  const source = sources.get(name)
  if (!source) throw unknownSource(name, sources.keys())
  const problem = source.list
    ? source.list.problem
    : `hookonce knows no API of ${source.name} that lists what was sent`
  if (problem !== null) throw new HookonceError('RECONCILE_UNAVAILABLE', { source: name, problem })
  return source
}

/** Null: another process compares it. */
export async function takeSource(store: Store, name: string): Promise<KeyLease | null> {
  const keys = need(store, 'keys', 'reconcile')
  const taken = await takeKey(keys, `hookonce:reconcile:${name}`, LEASE_MS)
  return taken.state === 'leased' ? taken.lease : null
}

export interface OneRun {
  readonly id: string
  readonly by: ReconcileReport['by']
  readonly range: ListRange
  readonly dryRun: boolean
  readonly startedAt: number
  readonly notBefore: number | null
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly resume?: ReconcileReport | undefined
}

/** Gives the lease back. */
export async function runOnce(
  deps: ReconcileDeps,
  store: Store,
  name: string,
  lease: KeyLease | null,
  { onProgress, resume, ...run }: OneRun,
): Promise<ReconcileReport> {
  try {
    const { sources, laneOf } = deps
    return await runReconcile(
      {
        store,
        name,
        source: sources.get(name)!,
        laneOf,
        recorded: (count) => deps.recorded(name, count),
        handled: () => deps.handled(store, name),
      },
      {
        ...run,
        ...(onProgress && { onProgress }),
        ...(resume && { resume }),
        insist: async () => lease?.extend(),
      },
    )
  } finally {
    await lease?.drop()
  }
}

/** The reports in the log, the latest first. */
export async function reports(
  store: Store,
  filter: { readonly source?: string; readonly limit: number },
): Promise<ReconcileReport[]> {
  const runs = await need(store, 'reconciles', 'the reports of reconcile').runs(filter)
  const now = await store.ping()
  return runs.map(({ report: text, updatedAt }) => {
    const report = JSON.parse(text) as ReconcileReport
    // The schedule continues its runs; nobody continues one that a person asked for.
    const isDead = report.state === 'running' && report.by === 'request' && now - updatedAt > SILENT_MS
    return isDead
      ? { ...report, state: 'failed', error: 'It was interrupted: its process ended. Run it again.' }
      : report
  })
}
