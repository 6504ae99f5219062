/** Reconcile as part of an inbox: comparisons that are asked for, and the schedules of its sources. */
import { followedSource } from '../model.js'
import type { ReconcileOptions } from '../reconcile/options.js'
import { type ReconcileDeps, reconcile, reports } from '../reconcile/reconcile.js'
import type { ReconcileReport } from '../reconcile/report.js'
import { type ReconcileSchedule, startSchedules } from '../reconcile/schedule.js'
import type { RetentionPolicy } from '../retention/policy.js'
import { need } from '../store.js'
import type { InboxBase } from './base.js'
import type { InboxProcessing } from './processing.js'

export interface InboxReconciling {
  start(): void
  /** Ends what runs. Resolves when the run of a schedule has stopped. */
  stop(): Promise<void>
  reconcile(source: string, options?: ReconcileOptions): Promise<ReconcileReport>
  reports(filter?: { readonly source?: string; readonly limit?: number }): Promise<ReconcileReport[]>
}

const DEFAULT_REPORTS = 20

export function inboxReconciling<Tx>(
  { sources, store, registry, counters, log }: InboxBase<Tx>,
  { afterRecord, wake }: InboxProcessing,
  policy: RetentionPolicy,
): InboxReconciling {
  const deps: ReconcileDeps = {
    sources,
    policy,
    log,
    store: store.open,
    laneOf: afterRecord.laneOf,
    async handled(opened, name) {
      const here = registry.all.map(({ source, pattern }) => ({ source, pattern }))
      const elsewhere = await need(opened, 'history', 'reconcile').handled()
      return [...here, ...registry.left, ...elsewhere].filter(({ source }) => followedSource(source) === name)
    },
    recorded(source, count) {
      counters.of(source).recorded += count
      wake()
    },
  }
  let schedule: ReconcileSchedule | undefined
  const stopping = new AbortController()
  return {
    start() {
      if (!store.refuses) schedule ??= startSchedules(deps)
    },
    async stop() {
      stopping.abort()
      await schedule?.stop()
    },
    reconcile(source, options = {}) {
      const signals = [stopping.signal, ...(options.signal ? [options.signal] : [])]
      return reconcile(deps, source, { ...options, signal: AbortSignal.any(signals) })
    },
    reports: async ({ source, limit = DEFAULT_REPORTS } = {}) =>
      reports(await store.open(), { ...(source !== undefined && { source }), limit }),
  }
}
